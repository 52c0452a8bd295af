"""Where the scenarios are that are named without a path."""

from pathlib import Path

_TOP = Path(__file__).parents[2]
_CHECKOUT = _TOP / "scenarios"
_INSTALLED = _TOP / "devkit" / "scenario" / "shipped"


def scenario_directory() -> Path:
    """`./scenarios` where there is one, else those of the kit, in its package or in its checkout."""
    local = Path("scenarios")
    if local.is_dir():
        return local
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
