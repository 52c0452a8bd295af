"""What was last made of each page, or entity, in a file of this host, so that the next change of it need not fetch it.

    begin = now() ─▶ fetch ─▶ put(…, since=begin) ─▶ get(…) by the next change
    drop(page)    ─▶ nothing of the page is found any more, and no put that began before takes effect

All workers of a host share the file, and a job that starts again finds it. Nothing rests on it: what is missing or
damaged is fetched. What was dropped does not come back after a crash either, that of the machine included; where the
file cannot be written for that, the job ends.
"""

import functools
import hashlib
import shutil
import tempfile
import uuid
from pathlib import Path

import lmdb
from isal import igzip

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.body import NotGzipError, gunzipped

# An entry that takes a larger part of all leaves too little for others.
_LARGEST_SHARE = 4
# Where more pages were dropped, all puts under way are refused: they are few, and do no harm by that.
_MOST_DROPS = 10_000
_FASTEST = 1
_NUMBER_BYTES = 8
_TOTAL, _NEXT, _LEAST, _ID, _READ_TO = b"total", b"next", b"least", b"id", b"read-to"


class KeptRevisions:
    """One for each worker process. `max_bytes` bounds the compressed contents of all pages on the host; the one that
    was put first goes first.
    """

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self.file_id: str | None = None
        """Which file it is, as each has an id of its own; None where nothing can be kept."""
        self._file = self._open()

    def get(self, wiki: str, page: str, rev: int) -> bytes | None:
        """The content at that revision; None where another one or none is kept."""
        if self._file is None:
            return None
        try:
            with self._file.begin() as transaction:
                entry = transaction.get(_key(wiki, page), db=self._revisions)
            if entry is None or int.from_bytes(entry[:_NUMBER_BYTES]) != rev:
                return None
            return gunzipped(entry[2 * _NUMBER_BYTES :])
        except (lmdb.Error, NotGzipError):
            return None

    def now(self) -> int:
        """A moment, to be asked for before something is fetched that will be put."""
        if self._file is None:
            return 0
        try:
            with self._file.begin() as transaction:
                return self._count(transaction, _NEXT)
        except lmdb.Error:
            return 0

    def put(
        self,
        wiki: str,
        page: str,
        rev: int,
        content: bytes | bytearray,
        *,
        since: int,
        compressed: bytes | bytearray | None = None,
    ) -> None:
        """Keep what was fetched `since` that moment in the place of an earlier revision, unless the page was dropped
        meanwhile; too large a content is not kept. `compressed` is the content in gzip, where that is at hand.
        """
        if self._file is None:
            return
        packed = compressed
        if packed is None or len(packed) > len(content):
            packed = igzip.compress(content, _FASTEST)
        if len(packed) > self._max_bytes // _LARGEST_SHARE:
            return
        try:
            with self._file.begin(write=True) as transaction:
                key = _key(wiki, page)
                dropped = int.from_bytes(transaction.get(key, b"", db=self._drops))
                if since >= max(dropped, self._count(transaction, _LEAST)):
                    self._put(transaction, key, rev, packed)
        except lmdb.Error:
            return

    def drop(self, wiki: str, page: str) -> None:
        """Keep nothing of a page that is deleted, or of which something is hidden. Raises lmdb.Error."""
        if self._file is None:
            return
        with self._file.begin(write=True) as transaction:
            key, moment = _key(wiki, page), self._next(transaction) + 1
            if transaction.stat(self._drops)["entries"] >= _MOST_DROPS:
                transaction.drop(self._drops, delete=False)
                self._set(transaction, _LEAST, moment)
            transaction.put(key, moment.to_bytes(_NUMBER_BYTES), db=self._drops)
            was_kept = self._remove(transaction, key)
        if was_kept:
            self._file.sync(True)

    def continue_from(self, position: str) -> None:
        """Keep what there is if all up to the job's position, in words of its own, was read on this host. Raises
        lmdb.Error.
        """
        if self._file is None:
            return
        with self._file.begin() as transaction:
            is_continued = transaction.get(_READ_TO, db=self._counts) == position.encode()
        if not is_continued:
            self.clear()
            self.read_to(position)

    def read_to(self, position: str) -> None:
        """All up to there was read on this host. Raises lmdb.Error."""
        if self._file is not None:
            with self._file.begin(write=True) as transaction:
                transaction.put(_READ_TO, position.encode(), db=self._counts)

    def clear(self) -> None:
        """Keep nothing of what was put so far, nor of what is being fetched. Raises lmdb.Error."""
        if self._file is None:
            return
        with self._file.begin(write=True) as transaction:
            for database in (self._revisions, self._order, self._drops):
                transaction.drop(database, delete=False)
            self._set(transaction, _TOTAL, 0)
            self._set(transaction, _LEAST, self._next(transaction) + 1)
        self._file.sync(True)

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> lmdb.Environment | None:
        for is_last in (False, True):
            try:
                self._directory.mkdir(parents=True, exist_ok=True)
                # Pages of entries that were removed are used again, but not at once.
                size = 2 * self._max_bytes + 16 * 1024 * 1024
                file = lmdb.open(str(self._directory), map_size=size, max_dbs=4, sync=False, max_readers=512)
                self._revisions = file.open_db(b"revisions")
                self._order = file.open_db(b"order")
                self._counts = file.open_db(b"counts")
                self._drops = file.open_db(b"drops")
                with file.begin(write=True) as transaction:
                    transaction.put(_ID, uuid.uuid4().hex.encode(), overwrite=False, db=self._counts)
                    self.file_id = bytes(transaction.get(_ID, b"", db=self._counts)).decode()
            except (lmdb.Error, OSError):
                if is_last:
                    return None
                shutil.rmtree(self._directory, ignore_errors=True)
            else:
                return file
        return None

    def _put(self, transaction: lmdb.Transaction, key: bytes, rev: int, packed: bytes | bytearray) -> None:
        before = transaction.get(key, db=self._revisions)
        if before is not None and int.from_bytes(before[:_NUMBER_BYTES]) > rev:
            return
        self._remove(transaction, key)
        order = self._next(transaction).to_bytes(_NUMBER_BYTES)
        entry = rev.to_bytes(_NUMBER_BYTES) + order + packed
        transaction.put(key, entry, db=self._revisions)
        transaction.put(order, key, db=self._order)
        self._set(transaction, _TOTAL, self._count(transaction, _TOTAL) + len(entry))
        with transaction.cursor(db=self._order) as oldest:
            while self._count(transaction, _TOTAL) > self._max_bytes and oldest.first():
                self._remove(transaction, bytes(oldest.value()))

    def _remove(self, transaction: lmdb.Transaction, key: bytes) -> bool:
        """Whether something was kept of the page."""
        removed = transaction.pop(key, db=self._revisions)
        if removed is None:
            return False
        transaction.delete(removed[_NUMBER_BYTES : 2 * _NUMBER_BYTES], db=self._order)
        self._set(transaction, _TOTAL, self._count(transaction, _TOTAL) - len(removed))
        return True

    def _next(self, transaction: lmdb.Transaction) -> int:
        """A number that no other change has."""
        number = self._count(transaction, _NEXT)
        self._set(transaction, _NEXT, number + 1)
        return number

    def _count(self, transaction: lmdb.Transaction, name: bytes) -> int:
        return int.from_bytes(transaction.get(name, b"", db=self._counts))

    def _set(self, transaction: lmdb.Transaction, name: bytes, number: int) -> None:
        transaction.put(name, number.to_bytes(_NUMBER_BYTES), db=self._counts)


def keeping_nothing(config: PipelineConfig) -> PipelineConfig:
    """The configuration of a job that keeps nothing."""
    none = config.parent_cache.model_copy(update={"policy": "none"})
    return config.model_copy(update={"parent_cache": none, "rdf": config.rdf.model_copy(update={"keep_last": 0})})


def kept_revisions(config: PipelineConfig) -> KeptRevisions | None:
    """What a job keeps on this host; None for one that keeps nothing."""
    return open_kept(config.checkpoint, config.kept_bytes) if config.kept_bytes else None


@functools.cache
def open_kept(checkpoint: str, max_bytes: int) -> KeptRevisions:
    """What the job with this checkpoint keeps on this host, the same object within a process."""
    digest = hashlib.sha256(checkpoint.encode()).hexdigest()
    return KeptRevisions(Path(tempfile.gettempdir()) / f"enrichment-revisions-{digest[:16]}", max_bytes)


def _key(wiki: str, page: str) -> bytes:
    return f"{wiki}/{page}".encode()
