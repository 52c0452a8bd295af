"""A body while it is read: its beginning in memory, the rest in a file that has no name and ends with the process."""

import tempfile
from collections.abc import Callable
from io import BufferedIOBase

from pipeline.fetch.in_flight import Holding
from pipeline.fetch.sent_body import SentBody


def unnamed_file() -> BufferedIOBase:
    """A file in the directory for temporary files (`TMPDIR`), which cannot be opened by name."""
    return tempfile.TemporaryFile()


class Spool:
    """One body. `inline_limit` bytes of it, and no more than `holding` has room for, are kept in memory. `sent` is the
    same as it was sent, where that is kept too.
    """

    def __init__(
        self,
        holding: Holding,
        inline_limit: int,
        *,
        sent: SentBody | None = None,
        open_file: Callable[[], BufferedIOBase] = unnamed_file,
    ) -> None:
        self._holding = holding
        self._inline_limit = inline_limit
        self._sent = sent
        self._open_file = open_file
        self._head = bytearray()
        self._file: BufferedIOBase | None = None
        self._spooled = 0

    def __len__(self) -> int:
        return len(self._head) + self._spooled

    @property
    def at_hand(self) -> bool:
        """Whether all of it is in memory, so that `whole` has nothing to wait for."""
        return self._file is None

    @property
    def sent(self) -> bytearray | None:
        """The body as it was sent; None where that is not kept."""
        return None if self._sent is None else self._sent.whole

    def write_sent(self, chunk: bytes) -> None:
        """Append to it as it was sent."""
        if self._sent is not None:
            self._sent.write(chunk)

    def write(self, piece: bytes) -> None:
        """Append. Raises OSError when the file cannot be written."""
        if self._file is None:
            if len(self._head) + len(piece) <= self._inline_limit and self._holding.take(len(piece)):
                self._head += piece
                return
            self._file = self._open_file()
        self._file.write(piece)
        self._spooled += len(piece)
        self._holding.spool(len(piece))

    async def whole(self) -> bytearray:
        """The complete body in memory, for which it may have to wait; the record holds it until it is emitted. Only
        once.
        """
        if self._file is None:
            return self._head
        await self._holding.unspool(self._spooled)
        head, self._head, self._spooled = self._head, bytearray(len(self)), 0
        self._head[: len(head)] = head
        self._file.seek(0)
        with memoryview(self._head) as body:
            self._file.readinto(body[len(head) :])
        self._close()
        return self._head

    def discard(self) -> None:
        """Let go of it, wherever it is."""
        self._close()
        if self._sent is not None:
            self._sent.discard()
        self._holding.give_back(memory=len(self._head), spooled=self._spooled)
        self._head, self._spooled = bytearray(), 0

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
