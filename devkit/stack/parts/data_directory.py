"""The data of a part, and the one copy that is kept of it: what the levers `copy` and `restore` act on.

Both are pulled while the part does not run. A copy that was not finished is no copy, and one that was restored stays.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from devkit.errors import StackError

_NO_COPY = "no copy of its data was made"


class KeptData(Protocol):
    """Data that can be copied, and replaced by its copy."""

    def require_copy(self) -> None:
        """Raises StackError when no copy was made."""

    def copy(self) -> None:
        """In place of an earlier copy. Raises StackError."""

    def restore(self) -> None:
        """Replace the data by the copy. Raises StackError."""


def no_copy(part: str) -> StackError:
    """The error where there is nothing to be restored."""
    return StackError(f"{part} cannot be restored: {_NO_COPY}", hint="let a fault `copy` begin before it")


def prepare_data(data: KeptData | None, lever: Literal["copy", "restore"]) -> Callable[[], None]:
    """What the lever does once the part has ended. Raises StackError where there is nothing to be restored: the part
    is not ended for that.
    """
    assert data is not None, "a part without data refuses the lever"
    if lever == "copy":
        return data.copy
    data.require_copy()
    return data.restore


@dataclass(frozen=True)
class DataDirectory(KeptData):
    """The data of a process of this machine: `path` is its data directory, and beside it stands the copy."""

    path: Path

    @classmethod
    def below(cls, directory: Path) -> "DataDirectory":
        """Makes `directory`, in which data and copy are, and an empty data directory in it."""
        (path := directory / "data").mkdir(parents=True)
        return cls(path)

    @property
    def copied(self) -> Path:
        """Where the copy is, if there is one."""
        return self.path.with_name("copy")

    def require_copy(self) -> None:
        """Raises StackError when no copy was made."""
        if not self.copied.is_dir():
            raise no_copy(self.path.parent.name)

    def copy(self) -> None:
        """In place of an earlier copy. Raises StackError when it cannot be written."""
        self._replace(self.copied, by=self.path)

    def restore(self) -> None:
        """Raises StackError when there is no copy, or no room."""
        self.require_copy()
        self._replace(self.path, by=self.copied)

    def _replace(self, target: Path, *, by: Path) -> None:
        partial, old = self.path.with_name("partial"), self.path.with_name("old")
        try:
            for remainder in (partial, old):
                shutil.rmtree(remainder, ignore_errors=True)
            shutil.copytree(by, partial)
            if target.exists():
                target.replace(old)
            partial.replace(target)
            shutil.rmtree(old, ignore_errors=True)
        except (OSError, shutil.Error) as error:
            raise StackError(f"{by} could not be copied to {target}: {error}", hint="free some space") from error
