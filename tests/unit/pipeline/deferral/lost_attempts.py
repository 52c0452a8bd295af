"""Attempts of tasks whose executor Spark has taken for lost, as a driver of the model has them: each may live on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.deferral.fold import Folded, Winners, fold
from pipeline.deferral.wire import EntryItem, Item
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.world import World, Write


@dataclass(frozen=True)
class EveryWinner(Winners):
    """`ended` has the attempt of each batch."""

    ended: Mapping[int, int] = field(default_factory=dict)

    def beat(self, item: Item) -> bool:
        if not isinstance(item, EntryItem) or item.batch is None or item.epoch != self.epoch:
            return False
        return self.ended.get(item.batch) != item.task


class LostAttempts:
    """`ended` has the attempt by which each batch of the driver has ended."""

    def __init__(self, world: World, epoch: int) -> None:
        self._world, self._epoch = world, epoch
        self._beaten: list[Write] = []
        self.ended: dict[int, int] = {}

    def give_up_on(self, writes: Sequence[Write]) -> None:
        """What the attempt has sent; the one that follows emits its events once more."""
        self._beaten += [write for write in writes if write.kind == "ledger"]
        self._world.again.update(write.payload[0] for write in writes if isinstance(write.payload[0], Position))

    def haunted(self) -> set[Position]:
        """Entries that they wrote and the driver has not mended yet: the next one takes them for valid."""
        late = {*self._world.positions_of(write for write in self._beaten if write in self._world.flight)}
        last = [item for item in self._world.last_items() if isinstance(item, EntryItem)]
        return late | {item.entry.position for item in last if self._winners().beat(item)}

    def folded(self) -> Folded:
        """What the topic says, to who knows how each batch has ended."""
        return fold(self._world.read({}), winners=self._winners())

    def _winners(self) -> EveryWinner:
        return EveryWinner(self._epoch, ended=self.ended)
