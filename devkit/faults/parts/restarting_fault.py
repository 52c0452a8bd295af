"""The base of `kill`, `restart`, `copy` and `restore`: the part is dead for a while, and undoing the fault starts it
again.
"""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.faults.claims import part_claims
from devkit.faults.fault import Context, Fault, Undo
from devkit.stack.parts.part import TRIPLE_STORE

# A broker that is not heard of for 9 s, Kafka's default, is taken for dead, and its partitions get another leader.
_ANOTHER_LEADS_S = 15.0


class RestartingFault(Fault):
    """A fault after which the part has to be started again."""

    blinds: ClassVar[bool] = True

    part: str = Field(description="Part that ends and is started again.")

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return part_claims(self.part)

    @override
    def blinds_s(self) -> float:
        if self.part == TRIPLE_STORE:
            return 0.0  # samples do without it
        # The other brokers of a cluster answer for a dead one, and at once, as its connections are gone as well.
        return _ANOTHER_LEADS_S if self.part.startswith("kafka-") else super().blinds_s()

    def plan_start(self, context: Context) -> None:
        """Write to the journal that the part is to be started again; to be called before it is ended."""
        context.plan(Undo(data={"part": self.part, "run_id": context.run_id}))

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        from devkit.faults.attached_part import start_again

        start_again(undo.data["run_id"], undo.data["part"])
