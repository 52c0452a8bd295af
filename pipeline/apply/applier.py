"""The loop of `apply`: records of the topic become chunks, mutations, batches, and requests to the store.

    poll ─▶ parse ─▶ reassemble ─▶ repeat? ─▶ batch ─┬─ full, or nothing more comes ─▶ probe ─▶ request
                                                     └─▶ next offset, in the same request

A request writes two offsets. The next offset, from where a restart reads, is the least of the open prefixes' offsets
and of the one behind the last mutation in the batch. Every mutation that ends before the applied offset is in the
store: after a restart it is put together, and not applied again. Before an entity's first diff or import since the
start the store is asked for its revision, as the producer may have written the mutation again: see `stored_entities`.

A request has no effect where the store was restored from an older copy, or where another process writes to it: see
`MutationStore`. Its answer does not say so, and those sent after it have none either. So the position is confirmed some
times a second, when nothing more comes, and at the end. Only then do offset, metrics and log count the requests since.

    restored store    the topic is read again from its offset
    another process   RefusedError: the one that started last goes on
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pipeline import log
from pipeline.apply.accumulate import MutationBatch, Patch
from pipeline.apply.chunk_record import ChunkRecord, Resolve, parse_record
from pipeline.apply.concept_base import ConceptBaseCheck
from pipeline.apply.mutation_store import PARTITION, MutationStore, StoreMovedError
from pipeline.apply.reassemble import Mutation, Reassembler, RepeatFilter
from pipeline.apply.sparql_target import StoreRequestRefusedError, WaitEndedError
from pipeline.apply.stored_entities import FittingMutations, select_fitting
from pipeline.apply.work_report import WorkReport
from pipeline.config.apply_config import ONE_MUTATION, Apply
from pipeline.errors import RefusedError
from pipeline.events import MutationIncomplete, StoreRewound
from pipeline.rdf.mutation import MutationChunk
from pipeline.rdf.triples import Triple

_POLL_S = 0.5
_CONFIRM_S = 0.2
_IDLE_S = 10.0


class Records(Protocol):
    """The topic, as far as the loop needs it."""

    topic: str

    def read_from(self, offset: int) -> None:
        """The next poll begins there."""

    def poll(self, timeout_s: float) -> Sequence[ChunkRecord]:
        """The next records, in their order; none where none come in time."""

    def commit(self, offset: int) -> None:
        """Commit the group's offset; returns when it is committed."""

    def report(self, offset: int) -> None:
        """The same, without waiting and without failing."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request that the store has answered, in `seconds`."""

    batch: MutationBatch
    patch: Patch
    mutations: Sequence[Mutation]
    seconds: float


@dataclass
class Applier:
    """`start` is the first offset that is read. What ends before `applied_offset` is in the store, which was adopted
    before that; what comes before `replay_end` may be. `clock` is in seconds and never goes back. `next_offset` is the
    last one that is known to be in the store.
    """

    records: Records
    store: MutationStore
    settings: Apply
    resolve: Resolve
    report: WorkReport
    start: int
    replay_end: int
    applied_offset: int = 0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._confirmed_at = self._polled_at = self.clock()
        self._probe_credit = 0.0
        self._has_progress = True
        self._latest: tuple[int, float] | None = None
        self._begin(self.start, self.applied_offset)

    def _begin(self, offset: int, applied_offset: int) -> None:
        self.next_offset = self._sent_offset = self._read_to = offset
        self.applied_offset = max(offset, applied_offset)
        self.reassembler = Reassembler(max_age_ms=self.settings.incomplete_after.total_seconds() * 1_000)
        self.repeats = RepeatFilter()
        self._leftovers = defaultdict[str, set[Triple]](set)
        self._replayed: dict[str, int] = {}
        self._batch = self._new_batch()
        self._mutations: list[Mutation] = []
        self._unknown = set[str]()
        self._sent: list[_Sent] = []

    def run(self, is_stopped: Callable[[], bool]) -> None:
        """Until `is_stopped`, which is asked after each batch; what is not in the store then is read again. Raises
        PipelineError.
        """
        with suppress(WaitEndedError):  # the request that the store did not answer comes again
            is_over = False
            while not is_over:
                try:
                    if is_over := is_stopped():
                        self._confirm()
                    else:
                        self._step(is_stopped)
                except StoreMovedError as error:
                    is_over = False
                    self._rewind(error)
        self._log()

    def _step(self, is_stopped: Callable[[], bool]) -> None:
        records = self._poll()
        for record in records:
            if self._take(record) and is_stopped():
                break
        if not records:
            self._flush()
        if self.report.is_due():
            self._confirm()
            self._log()

    def _rewind(self, moved: StoreMovedError) -> None:
        """Read again from the store's offset. Raises RefusedError where that is not an earlier one, where another
        process has written it, and where the store has it for the second time.
        """
        offset = moved.offset
        if offset is None or offset > self._sent_offset or moved.is_foreign:
            raise RefusedError(
                f"the store's next offset of topic {self.records.topic} is {offset}, and {self.next_offset} was "
                "written" + (" before another process wrote to it" if moved.is_foreign else ""),
                hint="one process may apply a topic to a store: end the other one and start again"
                if moved.is_foreign
                else "was the store replaced while this one wrote to it?",
            )
        if moved.is_stuck and not self._has_progress:
            raise RefusedError(
                f"the store answers that requests are executed, and its next offset of topic {self.records.topic} "
                f"stays {offset}",
                hint="it has to be an xsd:integer, and apply.query_endpoint the same store as apply.endpoint",
            )
        log.emit(StoreRewound(store_offset=offset, expected_offset=self.next_offset))
        self.replay_end = max(self.replay_end, self._read_to)
        self._has_progress = False
        self._begin(offset, self.store.applied_offset or offset)
        self.records.read_from(offset)

    @cached_property
    def _concept_base(self) -> ConceptBaseCheck:
        return ConceptBaseCheck(self.settings.concept_base, self.store)

    def _poll(self) -> Sequence[ChunkRecord]:
        began = self.clock()
        records = self.records.poll(0 if self._mutations else _POLL_S)
        self._polled_at = self.clock()
        self.report.add_poll(self._polled_at - began)
        return records

    def _take(self, record: ChunkRecord) -> bool:
        """Whether a batch was applied, as it had no room for the mutation that the record completes."""
        chunk = parse_record(record, f"{self.records.topic}/{PARTITION}/{record.offset}", self.resolve)
        self._concept_base.check(chunk, f"{self.records.topic}/{PARTITION}/{record.offset}")
        self.report.add_invalid_terms(chunk)
        mutation = self._reassemble(chunk, record.timestamp_ms)
        self._read_to = record.offset + 1
        if mutation is None or mutation.next_offset <= self.applied_offset:
            return False
        if self.repeats.is_repeat(mutation):
            self.report.add_repeat()
            return False
        is_full = not self._batch.has_room_for(mutation)
        if is_full:
            self._apply(mutation.first_offset, record.offset)
        if mutation.op in ("diff", "import") and not self.repeats.remembers(mutation.entity):
            self._unknown.add(mutation.entity)
        self.repeats.remember(mutation)
        self._note_leftovers(mutation)
        self._batch.add(mutation)
        self._mutations.append(mutation)
        return is_full

    def _reassemble(self, chunk: MutationChunk, timestamp_ms: int) -> Mutation | None:
        self._latest = (timestamp_ms, self._polled_at)
        dropped, orphaned = self.reassembler.dropped, self.reassembler.orphaned
        mutation = self.reassembler.add(chunk, timestamp_ms)
        prefix, orphans = self.reassembler.dropped - dropped, self.reassembler.orphaned - orphaned
        if orphans and not prefix and chunk.offset < self.replay_end:
            # Its first chunk is before the start, and no prefix that was open then is: the store has the mutation.
            return None
        self.report.add_dropped(prefix=prefix, orphan=orphans)
        if orphans:
            log.emit(
                MutationIncomplete(
                    entity=chunk.entity,
                    request_id=chunk.request_id,
                    offset=chunk.offset,
                    sequence=chunk.sequence,
                    length=chunk.length,
                )
            )
        return mutation

    def _drop_older(self) -> None:
        """The topic is read to its end: a record of now has the last one's time, and what has passed since."""
        if self._latest is None:
            return
        timestamp_ms, read_at = self._latest
        dropped = self.reassembler.dropped
        self.reassembler.drop_older(timestamp_ms + (self.clock() - read_at) * 1_000)
        self.report.add_dropped(prefix=self.reassembler.dropped - dropped, orphan=0)

    def _flush(self) -> None:
        self._drop_older()
        if self._mutations or self.reassembler.restart_offset(self._read_to) > self._sent_offset:
            self._apply(self._read_to, self._read_to)
        elif self._sent or self.clock() - self._confirmed_at >= _IDLE_S:
            self._confirm()

    def _apply(self, offset: int, applied_offset: int) -> None:
        """A restart needs no mutation whose chunks are all before `offset`; all that ended before `applied_offset` are
        in the store then.
        """
        next_offset = self.reassembler.restart_offset(offset)
        self.applied_offset = max(self.applied_offset, applied_offset)
        batch, mutations = self._fit_batch()
        self._batch, self._mutations = self._new_batch(), []
        self._probe(batch, mutations)
        patch = batch.patch()
        began = self.clock()
        try:
            if self.settings.offset == "store":
                self.store.apply(patch, next_offset, self.applied_offset)
            else:
                self.store.apply_triples(patch)
        except StoreRequestRefusedError as error:
            if not mutations:
                raise
            offsets = f"{mutations[0].first_offset} to {mutations[-1].next_offset - 1}"
            place = f"mutations of {self.records.topic}/{PARTITION} at offsets {offsets}"
            raise StoreRequestRefusedError(f"{place}: {error}", hint=error.hint) from error
        if self.settings.offset == "kafka":
            self.records.commit(next_offset)
        self._sent_offset = next_offset
        self._sent.append(_Sent(batch, patch, mutations, self.clock() - began))
        if self.settings.offset == "kafka" or self.clock() - self._confirmed_at >= _CONFIRM_S:
            self._confirm()

    def _fit_batch(self) -> tuple[MutationBatch, Sequence[Mutation]]:
        """The batch, and its mutations, without those that the store cannot take."""
        unknown, self._unknown = self._unknown, set()
        if not unknown:
            return self._batch, self._mutations
        selected = self._select_fitting(unknown)
        self._batch.absent |= selected.missing
        self._replayed |= selected.replayed
        for mutation in selected.fitting if selected.replayed else ():
            self._note_leftovers(mutation)
        if len(selected.fitting) == len(self._mutations):
            return self._batch, self._mutations
        for mutation in (*selected.repeats, *selected.absent):
            self.repeats.forget(mutation.entity)
        for _ in selected.repeats:
            self.report.add_repeat()
        self.report.add_absent(len(selected.absent))
        batch = self._new_batch()
        batch.absent |= selected.missing
        for mutation in selected.fitting:
            self.repeats.remember(mutation)
            batch.add(mutation)
        return batch, selected.fitting

    def _note_leftovers(self, mutation: Mutation) -> None:
        """Where a diff is applied to a later revision, a delete behind it may not find all that it has added."""
        entity = mutation.entity
        if mutation.rev > self._replayed.get(entity, mutation.rev):
            del self._replayed[entity]
            self._leftovers.pop(entity, None)
        elif entity in self._replayed or mutation.next_offset <= self.store.torn_until:
            self._leftovers[entity].update(self.store.select_owned(mutation.diff.added))

    def _select_fitting(self, unknown: Set[str]) -> FittingMutations:
        began = self.clock()
        stored = self.store.revisions(sorted(unknown))
        self.report.add_query(self.clock() - began)
        torn_until = self.store.torn_until if self.settings.atomic else math.inf
        return select_fitting(self._mutations, unknown, stored, torn_until=torn_until)

    def _confirm(self) -> None:
        """All requests so far took effect. Raises StoreMovedError."""
        if self.settings.offset == "store":
            self.store.confirm()
        self._confirmed_at = self.clock()
        for sent in self._sent:
            self.report.add_request(sent.batch, sent.patch, sent.seconds)
            for mutation in sent.mutations:
                self.report.add_mutation(mutation)
        self._has_progress |= bool(self._sent)
        self._sent = []
        self.next_offset = self._sent_offset

    def _probe(self, batch: MutationBatch, mutations: Sequence[Mutation]) -> None:
        """Where a part of a batch may be in the store, what it expects of that is not known."""
        if self.settings.count == "none" or not self.settings.atomic or not mutations:
            return
        if mutations[0].next_offset <= self.replay_end:
            return
        self._probe_credit += self.settings.probe_share
        if self._probe_credit < 1:
            return
        self._probe_credit -= 1
        if self.clock() - self._confirmed_at >= _CONFIRM_S:
            self._confirm()
        began = self.clock()
        revisions = self.store.revisions(batch.probed_entities)
        divergence = self.store.measure_divergence(*batch.expectation(revisions))
        self.report.add_probe(divergence, self.clock() - began)

    def _log(self) -> None:
        self.report.log(self.next_offset)
        if self.settings.offset == "store":
            self.records.report(self.next_offset)

    def _new_batch(self) -> MutationBatch:
        settings = self.settings
        return MutationBatch(
            batch_triples=settings.batch_triples,
            delete_weight=settings.delete_weight,
            max_mutations=1 if settings.batch_triples == ONE_MUTATION else None,
            unlinked=settings.unlinked,
            deletes=settings.deletes,
            sitelinks=settings.sitelinks,
            leftovers=self._leftovers,
        )
