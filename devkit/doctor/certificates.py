"""Certificates: a variable that names an unreadable bundle breaks each download, with an obscure message."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

from devkit.doctor.finding import MachineFinding

VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def check_certificates(environment: Mapping[str, str] = os.environ) -> MachineFinding:
    """Loads the bundle of each variable that is set in ``environment``."""
    bundles = {name: environment[name] for name in VARIABLES if environment.get(name)}
    if not bundles:
        return MachineFinding("certificates", "ok", "no bundle of your own named")
    named = []
    for name, value in bundles.items():
        try:
            named.append(f"{name}={value} ({_load(Path(value))})")
        except (OSError, ssl.SSLError) as error:
            return MachineFinding(
                "certificates",
                "fail",
                f"{name}={value} cannot be used: {error}",
                f"let {name} name a readable file of PEM certificates, or unset it",
            )
    return MachineFinding("certificates", "ok", ", ".join(named))


def _load(bundle: Path) -> str:
    """What is in it. A directory of certificates is read only as they are asked for, so it is just said to be one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if bundle.is_dir():
        return "a directory"
    context.load_verify_locations(bundle)
    return f"{len(context.get_ca_certs())} certificates"
