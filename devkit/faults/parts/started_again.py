"""What `kill` and `restart` have alike: the part is dead for a while, and undoing the fault starts it again."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.faults.exclusive import of_part
from devkit.faults.fault import Context, Fault, Undo


class StartedAgain(Fault):
    """A fault after which the part has to be started again."""

    blinds: ClassVar[bool] = True

    part: str = Field(description="Part that ends and is started again.")

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return of_part(self.part)

    def plan_start(self, context: Context) -> None:
        """Write to the journal that the part is to be started again; to be called before it is ended."""
        context.plan(Undo(data={"part": self.part, "run_id": context.run_id}))

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        from devkit.faults.attached import start_again

        start_again(undo.data["run_id"], undo.data["part"])
