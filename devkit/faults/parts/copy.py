"""`copy: {}`: the triple store is ended in order, its data is copied, and it is started again."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Need, Proof
from devkit.faults.parts.restarting_fault import RestartingFault
from devkit.observe.stored_triples import read_triples
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.part_life import Life
from devkit.stack.parts.triple_store import TripleStore
from located_config.count import counted


class Copy(RestartingFault):
    """It gets SIGTERM, so that the files of the copy fit each other. A later copy replaces an earlier one, and a copy
    ends with its arm.
    """

    name: ClassVar[str] = "copy"
    summary: ClassVar[str] = "the triple store is ended by SIGTERM, its data copied for `restore`, and started again"
    example: ClassVar[str] = "{part: triple-store}"
    lasts: ClassVar[bool] = False

    part: Literal["triple-store"] = Field(default=TRIPLE_STORE, description="The only part that it can act on.")

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part, "copy"),)

    @override
    def begin(self, context: Context) -> Acting:
        store, part = store_of(context), context.parts[self.part]
        before, triples = part.life, read_triples(store)
        self.plan_start(context)
        part.pull("copy")
        store.copied = frozenset(triples)
        return _Copied(before, part.life, len(triples))


def store_of(context: Context) -> TripleStore:
    """Raises StackError outside an arm."""
    if context.triple_store is None:
        raise StackError("there is no arm whose triple store could be copied", hint="write it into a `timeline`")
    return context.triple_store


@dataclass(frozen=True)
class _Copied:
    before: Life
    now: Life
    triples: int

    def end(self) -> Proof:
        if self.before.exit_code is None or self.now is self.before:
            return Proof(acted=False, did="the process of before still runs")
        return Proof(
            acted=True, did=f"its data was copied with {counted(self.triples, 'triple')}, and it answers again"
        )
