"""Python: new enough, and 64 bits (the wheels the kit stands on come in no other size)."""

import platform
import sys

from devkit.doctor.finding import MachineFinding

_OLDEST = (3, 11)


def check_python(version: tuple[int, int] = sys.version_info[:2], largest_int: int = sys.maxsize) -> MachineFinding:
    """``version`` is major and minor; ``largest_int`` that of a machine word."""
    found = f"{'.'.join(map(str, version))} on {platform.system()} {platform.machine()}"
    if version < _OLDEST:
        return MachineFinding(
            "python", "fail", f"{found}: too old", "install Python 3.11 or newer; JUSTW_PYTHON names it"
        )
    if largest_int < 2**63 - 1:
        return MachineFinding("python", "fail", f"{found}: 32 bits", "install a 64-bit Python; JUSTW_PYTHON names it")
    return MachineFinding("python", "ok", found)
