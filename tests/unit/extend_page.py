"""The examples of docs/extend.md: each a block of code whose first line is a comment with the name of its file."""

import re
import shutil
from pathlib import Path

_TOP = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?:python|yaml)\n# ([\w.]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> dict[str, str]:
    """Their texts by the names of the files."""
    return dict(_BLOCK.findall((_TOP / "docs" / "extend.md").read_text()))


def write_examples(directory: Path) -> None:
    """All of them, and the template of a pipeline for those that have none."""
    for name, text in examples().items():
        (directory / name).write_text(text)
    shutil.copy(_TOP / "docs" / "examples" / "my_pipeline.py", directory / "my_pipeline.py")
