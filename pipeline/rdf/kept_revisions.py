"""The munged triples of the revision that was last resolved of an entity, in a file of this host.

The next diff of the entity begins with that revision, so it has one revision less to fetch and to parse. All workers of
a host share the file, and a job that starts again finds it. Nothing rests on it: a revision never changes, and what is
missing or damaged is fetched.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import lmdb
from isal import isal_zlib
from isal.igzip_lib import IsalError

from pipeline.rdf.triples import Triple

# An entry that takes a larger part of all leaves too little for others.
_LARGEST_SHARE = 4
_FASTEST = 1
_NUMBER_BYTES = 8
_TOTAL = b"total"
_NEXT = b"next"


class KeptRevisions:
    """One for each worker process. `max_bytes` bounds the compressed triples of all entities on the host; the one that
    was put first goes first.
    """

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._file = self._open()

    def get(self, wiki: str, entity: str, rev: int) -> frozenset[Triple] | None:
        """The triples at that revision; None where another one or none is kept."""
        if self._file is None:
            return None
        try:
            with self._file.begin() as transaction:
                entry = transaction.get(_key(wiki, entity), db=self._revisions)
            if entry is None or int.from_bytes(entry[:_NUMBER_BYTES]) != rev:
                return None
            text = isal_zlib.decompress(entry[2 * _NUMBER_BYTES :]).decode()
        except (lmdb.Error, IsalError, UnicodeDecodeError):  # type: ignore[misc] # IsalError has no type in the stubs
            return None
        return frozenset(text.split("\n")) if text else frozenset()

    def put(self, wiki: str, entity: str, rev: int, triples: Iterable[Triple]) -> None:
        """Keep them in the place of an earlier revision; too large an entity is not kept."""
        packed = isal_zlib.compress("\n".join(triples).encode(), _FASTEST)
        if self._file is None or len(packed) > self._max_bytes // _LARGEST_SHARE:
            return
        try:
            with self._file.begin(write=True) as transaction:
                self._put(transaction, _key(wiki, entity), rev, packed)
        except lmdb.Error:
            return

    def drop(self, wiki: str, entity: str) -> None:
        """Keep nothing of an entity that is deleted: nothing asks for it again, and its content may be hidden."""
        if self._file is None:
            return
        try:
            with self._file.begin(write=True) as transaction:
                removed = transaction.pop(_key(wiki, entity), db=self._revisions)
                if removed is not None:
                    transaction.delete(removed[_NUMBER_BYTES : 2 * _NUMBER_BYTES], db=self._order)
                    total = self._count(transaction, _TOTAL) - len(removed)
                    transaction.put(_TOTAL, total.to_bytes(_NUMBER_BYTES), db=self._counts)
        except lmdb.Error:
            return

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
                file = lmdb.open(str(self._directory), map_size=size, max_dbs=3, sync=False, max_readers=512)
                self._revisions = file.open_db(b"revisions")
                self._order = file.open_db(b"order")
                self._counts = file.open_db(b"counts")
            except (lmdb.Error, OSError):
                if is_last:
                    return None
                shutil.rmtree(self._directory, ignore_errors=True)
            else:
                return file
        return None

    def _put(self, transaction: lmdb.Transaction, key: bytes, rev: int, packed: bytes) -> None:
        total, number = (self._count(transaction, name) for name in (_TOTAL, _NEXT))
        before = transaction.get(key, db=self._revisions)
        if before is not None:
            if int.from_bytes(before[:_NUMBER_BYTES]) >= rev:
                return
            transaction.delete(before[_NUMBER_BYTES : 2 * _NUMBER_BYTES], db=self._order)
            total -= len(before)
        order = number.to_bytes(_NUMBER_BYTES)
        entry = rev.to_bytes(_NUMBER_BYTES) + order + packed
        transaction.put(key, entry, db=self._revisions)
        transaction.put(order, key, db=self._order)
        total += len(entry)
        with transaction.cursor(db=self._order) as oldest:
            while total > self._max_bytes and oldest.first():
                removed = transaction.pop(oldest.value(), db=self._revisions)
                oldest.delete()
                total -= len(removed or b"")
        transaction.put(_TOTAL, total.to_bytes(_NUMBER_BYTES), db=self._counts)
        transaction.put(_NEXT, (number + 1).to_bytes(_NUMBER_BYTES), db=self._counts)

    def _count(self, transaction: lmdb.Transaction, name: bytes) -> int:
        return int.from_bytes(transaction.get(name, b"", db=self._counts))


def kept_directory(checkpoint: str) -> Path:
    """Where a job keeps them: in the directory for temporary files, by its checkpoint."""
    digest = hashlib.sha256(checkpoint.encode()).hexdigest()
    return Path(tempfile.gettempdir()) / f"enrichment-revisions-{digest[:16]}"


def _key(wiki: str, entity: str) -> bytes:
    return f"{wiki}/{entity}".encode()
