"""The table of faults on parts in docs/faults.md, made of what the faults say of themselves.

`python -m devkit.faults.table docs/faults.md` writes it again.
"""

import re
import sys
from pathlib import Path
from typing import Final

from devkit.faults.registry import FAULTS

_HEAD: Final = "| fault on a part | what it does |\n|---|---|\n"
_TABLE: Final = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")


def part_fault_table() -> str:
    """In Markdown, a row a fault in the order of the registry."""
    return _HEAD + "".join(f"| `{fault.name}: {fault.example}` | {fault.summary} |\n" for fault in FAULTS.values())


def put_table(path: Path) -> None:
    """Put the table into a file in the place of the one that is there."""
    before, after = _TABLE.split(path.read_text(encoding="utf-8"), maxsplit=1)
    path.write_text(before + part_fault_table() + after, encoding="utf-8")


if __name__ == "__main__":
    put_table(Path(sys.argv[1]))
