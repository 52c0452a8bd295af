"""`restore: {}`: the triple store is ended in order and started again with the older data of a copy."""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from devkit.faults.fault import Acting, Context, Need, Proof, Undo
from devkit.faults.parts.copy import store_of
from devkit.faults.parts.restarting_fault import RestartingFault
from devkit.observe.stored_triples import read_triples
from devkit.stack.parts.data_directory import no_copy
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.part_life import Life
from located_config.count import counted


class Restore(RestartingFault):
    """As when a server comes back from a backup: what was written since the arm's last `copy` is gone, and its clients
    are not told.
    """

    name: ClassVar[str] = "restore"
    summary: ClassVar[str] = "the triple store is started again with the data of its `copy`; cannot be undone"
    example: ClassVar[str] = "{part: triple-store}"
    lasts: ClassVar[bool] = False

    part: Literal["triple-store"] = Field(default=TRIPLE_STORE, description="The only part that it can act on.")

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part, "restore"),)

    @override
    def begin(self, context: Context) -> Acting:
        store, part, before = store_of(context), context.parts[self.part], context.parts[self.part].life
        if store.copied is None:
            raise no_copy(self.part)
        triples = frozenset(read_triples(store))
        self.plan_start(context)
        context.plan(Undo(irreversible="what was written to the triple store since its copy is gone"))
        part.pull("restore")
        return _Restored(before, part.life, triples, store.copied)


@dataclass(frozen=True)
class _Restored:
    """`triples` are those just before. The store is not asked afterwards, as its clients may have written again."""

    before: Life
    now: Life
    triples: Set[str]
    copied: Set[str]

    def end(self) -> Proof:
        """A copy that is not older shows nothing."""
        if self.before.exit_code is None or self.now is self.before:
            return Proof(acted=False, did="the process of before still runs")
        gone, back = len(self.triples - self.copied), len(self.copied - self.triples)
        if not gone and not back:
            return Proof(acted=False, did="its triples were those of the copy, so nothing changed")
        written = f"without {counted(gone, 'triple')} written since, and with {counted(back, 'triple')} deleted since"
        return Proof(acted=True, did=f"it answers again with the data of its copy: {written}")
