"""Downloads: certificates that can be read, and the locked jars in the cache."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

from devkit.doctor.finding import MachineFinding
from devkit.jvm.jars import JAR_SETS, jar_path, unverified
from devkit.jvm.pins import read_pins

_BUNDLE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def check_certificates(environment: Mapping[str, str] = os.environ) -> MachineFinding:
    """Loads the bundle of each variable that is set in ``environment``."""
    bundles = {name: environment[name] for name in _BUNDLE_VARIABLES if environment.get(name)}
    if not bundles:
        return MachineFinding("certificates", "ok", "no bundle of your own named")
    named = []
    for name, value in bundles.items():
        try:
            named.append(f"{name}={value} ({_describe_bundle(Path(value))})")
        except (OSError, ssl.SSLError) as error:
            return MachineFinding(
                "certificates",
                "fail",
                f"{name}={value} cannot be used: {error}",
                f"let {name} name a readable file of PEM certificates, or unset it",
            )
    return MachineFinding("certificates", "ok", ", ".join(named))


def _describe_bundle(bundle: Path) -> str:
    """Its kind or size. The certificates of a directory are read only when they are needed, so none is counted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if bundle.is_dir():
        return "a directory"
    context.load_verify_locations(bundle)
    return f"{len(context.get_ca_certs())} certificates"


def check_jars() -> MachineFinding:
    """Hashes each jar; missing ones are no fault, the first run downloads them."""
    pins = [pin for jar_set in JAR_SETS for pin in read_pins(jar_set)]
    to_download = unverified(pins)
    if not to_download:
        total = sum(pin.size for pin in pins) / 1e6
        return MachineFinding("jars", "ok", f"{len(pins)} jars ({total:.0f} MB) in the cache and verified")
    damaged = sum(jar_path(pin).exists() for pin in to_download)
    detail = f"{len(to_download)} of {len(pins)} jars to download ({sum(pin.size for pin in to_download) / 1e6:.0f} MB)"
    return MachineFinding(
        "jars",
        "warn",
        f"{detail}, {damaged} of them damaged" if damaged else detail,
        "the next run fetches them; have the network at hand",
    )
