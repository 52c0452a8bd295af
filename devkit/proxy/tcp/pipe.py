"""One direction of a connection: what one socket reads, in order, into the other, held for as long as toxics say."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal

from devkit.proxy.direction import Direction
from devkit.proxy.proof import ProxyProof
from devkit.proxy.toxics.toxic import Chunk, StreamEffect

MOST_HELD_BYTES: Final = 4 << 20
"""Beyond that a pipe stops reading, so the sender's socket fills and the sender waits."""
# A loop's timer may be a little early; asking again at once would be a busy wait.
_LEAST_WAIT_S: Final = 0.001


class Pipe:
    """`effects` are asked anew for each chunk; `ended` is called when the end of the stream has gone through."""

    def __init__(
        self,
        connection: int,
        direction: Direction,
        effects: Callable[[], Sequence[StreamEffect]],
        *,
        rst: Callable[[], object],
        ended: Callable[[], object],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._connection, self._direction, self._effects = connection, direction, effects
        self._rst, self._ended = rst, ended
        self._queue: deque[Chunk] = deque()
        self._held_bytes = 0
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._swallowed_by: ProxyProof | None = None
        self._source_paused = self._sink_full = False
        self.source: asyncio.Transport | None = None
        self.sink: asyncio.Transport | None = None
        self.finished = False

    def feed(self, data: bytes = b"", end: Literal["fin", "rst"] | None = None) -> None:
        """Take what the source has read, or the end of its stream."""
        if self._swallowed_by is not None:
            self._swallowed_by.dropped(self._connection, len(data))
            return
        effects = self._effects()
        self._number += 1
        if self.sink is not None and not self._queue and not effects:
            self._write(data, end)
            return
        chunk = Chunk(self._connection, self._direction, self._number, self._loop.time(), data, end)
        for effect in effects:
            effect.took(chunk)
        self._queue.append(chunk)
        self._held_bytes += len(data)
        self._pace_source()
        if len(self._queue) == 1:
            self.pump()

    def began(self, effect: StreamEffect) -> None:
        """A toxic begins to act on what is held."""
        for chunk in self._queue:
            effect.took(chunk)
        self.pump()

    def pump(self) -> None:
        """Pass on what may go. For when something changed: a time has come, a toxic ended, the sink drained."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue and self.sink is not None and not self._sink_full:
            effects = self._effects()
            self._cut_head(effects)
            head = self._queue[0]
            wait_s = max((effect.ready_at(head) for effect in effects), default=0.0) - self._loop.time()
            if wait_s > 0:
                if wait_s != math.inf:
                    self._timer = self._loop.call_later(max(wait_s, _LEAST_WAIT_S), self.pump)
                break
            self._queue.popleft()
            self._held_bytes -= len(head.data)
            for effect in effects:
                effect.passed(head)
            self._write(head.data, head.end)
        self._pace_source()

    def sink_full(self, full: bool) -> None:
        """While `full`, nothing goes on and the source is not read."""
        self._sink_full = full
        self._pace_source()
        if not full:
            self.pump()

    def drop(self) -> int:
        """Forget what is held; returns how many bytes that were."""
        dropped, self._held_bytes = self._held_bytes, 0
        self._queue.clear()
        self.pump()
        return dropped

    @property
    def swallows(self) -> bool:
        """For good once `swallow` was called."""
        return self._swallowed_by is not None

    def swallow(self, proof: ProxyProof) -> None:
        """Lose what is held and all that comes from now on."""
        self._swallowed_by = proof
        self._sink_full = False  # it is not written to any more, so it need not drain
        proof.dropped(self._connection, self.drop())

    def _cut_head(self, effects: Sequence[StreamEffect]) -> None:
        most = min((effect.piece_bytes for effect in effects if effect.piece_bytes), default=None)
        if most is not None and len(self._queue[0].data) > most:
            piece, rest = self._queue.popleft().split(most)
            self._queue.extendleft((rest, piece))

    def _write(self, data: bytes, end: Literal["fin", "rst"] | None) -> None:
        assert self.sink is not None
        if not self.sink.is_closing():
            if data:
                self.sink.write(data)
            if end == "fin":
                self.sink.write_eof()
        if end == "rst":
            self._rst()
        elif end == "fin":
            self.finished = True
            self._ended()

    def _pace_source(self) -> None:
        paused = self._sink_full or self._held_bytes >= MOST_HELD_BYTES
        if paused == self._source_paused or self.source is None or self.source.is_closing():
            return
        self._source_paused = paused
        if paused:
            self.source.pause_reading()
        else:
            self.source.resume_reading()
