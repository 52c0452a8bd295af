"""The table of faults in docs/faults.md, made of what the faults say of themselves."""

import re
from pathlib import Path
from typing import Final

from mockapi.control.fault_list import flow
from mockapi.errors import InputFileError
from mockapi.faults.registry import FAULTS

_HEAD: Final = "| fault | what it does |\n|---|---|\n"
_TABLE: Final = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")


def fault_table() -> str:
    """The table in Markdown, a row a fault in the order in which a request meets them."""
    return _HEAD + "".join(
        f"| `{fault.name}: {flow(fault.example)}` | {fault.docs or fault.summary}{mark} |\n"
        for fault in FAULTS.values()
        for mark in ["" if fault.deterministic else " (*)"]
    )


def put_table(path: Path) -> None:
    """Puts the table into a Markdown file in the place of the one that is there. Raises InputFileError without one."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from None
    before, *after = _TABLE.split(text, maxsplit=1)
    if not after:
        raise InputFileError(f"{path}: no table of faults; it begins with {_HEAD.splitlines()[0]!r}")
    path.write_text(before + fault_table() + after[0], encoding="utf-8")
