"""The data in a volume of a part's container, and the copy of it beside it in the same volume."""

from collections.abc import Callable
from dataclasses import dataclass

from devkit.docker.access import RUN_LABEL
from devkit.errors import StackError
from devkit.stack.parts.data_directory import KeptData, no_copy

_HAS_COPY = "test -d copy && echo yes || true"
# `cp --archive` keeps owner and times; what is not finished has another name.
_COPY = "rm -rf partial && cp -a data partial && rm -rf copy && mv partial copy"
_RESTORE = "rm -rf partial && cp -a copy partial && rm -rf data && mv partial data"


@dataclass(frozen=True)
class ContainerData(KeptData):
    """`volume` is the directory in the container that has `data`, which the part uses, and may have `copy`.

    A stopped container runs no command, so another of the same image and volumes does, which carries the run's label.
    """

    part: str
    container: str
    volume: str
    order: Callable[[list[str]], str]
    run_id: str

    def require_copy(self) -> None:
        """Raises StackError when no copy was made."""
        if self._run(_HAS_COPY).strip() != "yes":
            raise no_copy(self.part)

    def copy(self) -> None:
        """In place of an earlier copy. Raises StackError."""
        self._run(_COPY)

    def restore(self) -> None:
        """Raises StackError when there is no copy."""
        self.require_copy()
        self._run(_RESTORE)

    def _run(self, script: str) -> str:
        image = self.order(["container", "inspect", "--format", "{{.Image}}", self.container]).strip()
        if not image:
            raise StackError(f"the engine does not know the image of {self.part}'s container")
        helper = ["--rm", "--label", f"{RUN_LABEL}={self.run_id}", "--volumes-from", self.container]
        start = ["--workdir", self.volume, "--entrypoint", "sh", image, "-ec", script]
        return self.order(["container", "run", *helper, *start])
