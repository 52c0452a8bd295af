"""Jars: what of the locked sets is in the cache and is what it should be."""

from devkit.doctor.finding import MachineFinding
from devkit.jvm.jars import JAR_SETS, jar_path, unverified
from devkit.jvm.pins import read_pins


def check_jars() -> MachineFinding:
    """Hashes each jar; missing ones are no fault, the first run downloads them."""
    pins = [pin for jar_set in JAR_SETS for pin in read_pins(jar_set)]
    wanted = unverified(pins)
    if not wanted:
        total = sum(pin.size for pin in pins) / 1e6
        return MachineFinding("jars", "ok", f"{len(pins)} jars ({total:.0f} MB) in the cache and verified")
    damaged = sum(jar_path(pin).exists() for pin in wanted)
    detail = f"{len(wanted)} of {len(pins)} jars to download ({sum(pin.size for pin in wanted) / 1e6:.0f} MB)"
    return MachineFinding(
        "jars",
        "warn",
        f"{detail}, {damaged} of them damaged" if damaged else detail,
        "the next run fetches them; have the network at hand",
    )
