"""What was done, as metrics and as a line of the log every few seconds."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from pipeline import log
from pipeline.apply.accumulate import MutationBatch, Patch
from pipeline.apply.mutation_store import Divergence
from pipeline.apply.reassemble import Mutation
from pipeline.events import MutationsApplied, invalid_terms_of
from pipeline.metrics import apply_catalogue as metrics
from pipeline.metrics.measurements import Recorder
from pipeline.rdf.mutation import MutationChunk

_LINE_S = 5.0


class WorkReport:
    """`clock` is in seconds and never goes back."""

    def __init__(self, recorder: Recorder, clock: Callable[[], float]) -> None:
        self._recorder, self._clock = recorder, clock
        self._counts = Counter[str]()
        self._poll_s = self._store_s = 0.0
        self._logged_at = clock()
        for reason in ("prefix", "orphan"):  # a rate needs the 0 before the first one
            recorder.count(metrics.CHUNKS_DROPPED, reason, by=0)
        recorder.count(metrics.ABSENT, by=0)

    def add_poll(self, seconds: float) -> None:
        """A wait for records."""
        self._recorder.observe(metrics.POLL_SECONDS, seconds)
        self._poll_s += seconds

    def add_repeat(self) -> None:
        """A mutation was dropped, as it repeats another one."""
        self._recorder.count(metrics.REPEATS)
        self._counts["repeats"] += 1

    def add_absent(self, count: int) -> None:
        """Diffs were not applied, as the store does not have their entity."""
        self._recorder.count(metrics.ABSENT, by=count)
        self._counts["absent"] += count

    def add_query(self, seconds: float) -> None:
        """The store was asked for revisions."""
        self._recorder.observe(metrics.STORE_SECONDS, seconds, "revisions")
        self._store_s += seconds

    def add_dropped(self, *, prefix: int, orphan: int) -> None:
        """Chunks were dropped: of prefixes that were not continued, and without their prefix."""
        for reason, count in (("prefix", prefix), ("orphan", orphan)):
            if count:
                self._recorder.count(metrics.CHUNKS_DROPPED, reason, by=count)
                self._counts["dropped"] += count

    def add_invalid_terms(self, chunk: MutationChunk) -> None:
        """A record was read; the log names its entity where terms of it are not as they were written."""
        if chunk.invalid_terms:
            log.emit(invalid_terms_of(chunk.entity, chunk.rev, chunk.invalid_terms))
        for term in chunk.invalid_terms:
            self._recorder.count(metrics.INVALID_TERMS, term.outcome)

    def add_probe(self, divergence: Divergence, seconds: float) -> None:
        """The store was asked what it has."""
        self._recorder.observe(metrics.STORE_SECONDS, seconds, "probe")
        self._recorder.count(metrics.PROBED, by=divergence.probed)
        self._recorder.count(metrics.DIVERGING, "missing", by=divergence.missing)
        self._recorder.count(metrics.DIVERGING, "unexpected", by=divergence.unexpected)
        self._counts.update(probed=divergence.probed, missing=divergence.missing, unexpected=divergence.unexpected)
        self._store_s += seconds

    def add_mutation(self, mutation: Mutation) -> None:
        """The store has executed it."""
        self._recorder.count(metrics.MUTATIONS, mutation.op)
        with suppress(ValueError):
            self._recorder.set(metrics.EVENT_TIME, datetime.fromisoformat(mutation.dt).timestamp())
        self._counts["mutations"] += 1

    def add_request(self, batch: MutationBatch, patch: Patch, seconds: float) -> None:
        """The store has executed a batch."""
        recorder = self._recorder
        recorder.observe(metrics.STORE_SECONDS, seconds, "update")
        recorder.count(metrics.TRIPLES, "deleted", by=len(patch.deleted))
        recorder.count(metrics.TRIPLES, "inserted", by=len(patch.inserted))
        recorder.count(metrics.CLEARED, by=len(patch.cleared))
        recorder.count(metrics.UNLINKED, by=batch.orphans)
        recorder.count(metrics.DELETES_IGNORED, by=batch.ignored_deletes)
        self._counts.update(
            requests=1,
            cleared=len(patch.cleared),
            deleted=len(patch.deleted),
            inserted=len(patch.inserted),
            unlinked=batch.orphans,
            ignored=batch.ignored_deletes,
        )
        self._store_s += seconds

    def is_due(self) -> bool:
        """Whether there is something to log, and the last line is some seconds old."""
        return bool(self._counts.total()) and self._clock() - self._logged_at >= _LINE_S

    def log(self, next_offset: int) -> None:
        """Log what was done since the last line, if anything was."""
        self._logged_at = self._clock()
        if not self._counts.total():
            return
        counts, self._counts = self._counts, Counter()
        poll_s, self._poll_s = self._poll_s, 0.0
        store_s, self._store_s = self._store_s, 0.0
        log.emit(
            MutationsApplied(
                next_offset=next_offset,
                requests=counts["requests"],
                mutations=counts["mutations"],
                cleared=counts["cleared"],
                deleted=counts["deleted"],
                inserted=counts["inserted"],
                repeats=counts["repeats"],
                absent=counts["absent"],
                dropped=counts["dropped"],
                unlinked=counts["unlinked"],
                ignored=counts["ignored"],
                probed=counts["probed"],
                missing=counts["missing"],
                unexpected=counts["unexpected"],
                poll_s=round(poll_s, 3),
                store_s=round(store_s, 3),
            )
        )
