"""The loop over a topic and a store in memory."""

import hashlib
import json
from typing import Any

import pyoxigraph
import pytest

from pipeline.apply.accumulate import Patch
from pipeline.apply.chunk_record import ChunkRecord
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.patch import APPLIED_OFFSET
from pipeline.apply.sparql_target import StoreRequestRefusedError, WaitEndedError
from pipeline.consumer.claims import Suppressed
from pipeline.errors import PipelineError, RefusedError, UnreadableSourceError
from pipeline.metrics import apply_catalogue as metrics
from pipeline.metrics.measurements import Recorder
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions
from pipeline.records.claim_check import Claim
from pipeline.records.record import Record
from tests.unit.pipeline.apply.fake_parts import (
    FakeTopic,
    StoreTarget,
    applier_of,
    apply_until_idle,
    operation_records,
    place_records,
)
from tests.unit.pipeline.apply.mutations import TOPIC, store_with, triples_in
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

A, B, C = 'wd:Q1 wdt:P1 "a" .', 'wd:Q1 wdt:P1 "b" .', 'wd:Q1 wdt:P1 "c" .'
OF_Q2, MORE_OF_Q2 = 'wd:Q2 wdt:P1 "a" .', 'wd:Q2 wdt:P1 "b" .'
OF_Q1_AT_1 = "wd:Q1 schema:version 1 ."
OF_Q1_AT_3 = "wd:Q1 schema:version 3 ."
TWO_OF_Q3 = 'wd:Q3 wdt:P1 "a", "b" .'
REFERENCE = 'wdref:1 pr:P1 "a" .'
PAGE = "<https://en.e.org/wiki/A> a schema:Article ; schema:isPartOf <https://en.e.org/> ."
ONE_A_CHUNK = 60


def about(entity: str) -> str:
    return f"<https://en.e.org/wiki/A> schema:about wd:{entity} ."


def edit_records(entity: str, seq: int, before: str, after: str, *, characters: int = ONE_A_CHUNK) -> list[Record]:
    diff = diff_revisions(frozenset(triples_of(before)), frozenset(triples_of(after)), NAMESPACES)
    return operation_records(entity, "import" if seq == 1 else "diff", seq, diff, characters=characters)


IMPORT_Q1 = edit_records("Q1", 1, "", A)
TO_B, TO_C = edit_records("Q1", 2, A, B, characters=500), edit_records("Q1", 3, B, C, characters=500)
IMPORT_Q2 = edit_records("Q2", 1, "", OF_Q2 + MORE_OF_Q2)
DELETE_Q1 = operation_records("Q1", "delete", 4)
TWO_Q3 = operation_records("Q3", "import", 1, TripleDiff(tuple(triples_of(TWO_OF_Q3))))


def test_these_records_are_of_one_chunk_and_of_two() -> None:
    assert [len(records) for records in (IMPORT_Q1, TO_B, TO_C, IMPORT_Q2)] == [1, 1, 1, 2]


def offset_in(store: pyoxigraph.Store) -> int | None:
    return MutationStore(StoreTarget(store), NAMESPACES, TOPIC).next_offset()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("records", "after", "offset"),
    [
        ([*IMPORT_Q1, *TO_B, *IMPORT_Q2], B + OF_Q2 + MORE_OF_Q2, 4),
        ([*IMPORT_Q1, *TO_B, *DELETE_Q1], "", 3),
        ([*IMPORT_Q1, *IMPORT_Q2[:1]], A, 1),
        ([*IMPORT_Q2[:1], *IMPORT_Q1, *TO_B], B, 0),
        ([*IMPORT_Q2[:1], *IMPORT_Q1, *IMPORT_Q2], A + OF_Q2 + MORE_OF_Q2, 4),
        ([*IMPORT_Q2[1:]], "", 1),
        ([*IMPORT_Q1, *TO_B, *IMPORT_Q1, *TO_B], B, 4),
    ],
)
def test_the_store_has_what_the_topic_has_and_the_next_offset(records: list[Record], after: str, offset: int) -> None:
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic(place_records(records)), target))
    assert triples_in(target.store) == set(triples_of(after))
    assert offset_in(target.store) == offset


def test_what_was_half_applied_before_a_restart_does_not_cancel_out() -> None:
    """An open prefix holds the offset back, and the triple was added before the restart and is deleted after it."""
    records = place_records([*IMPORT_Q2[:1], *IMPORT_Q1, *edit_records("Q1", 2, A, ""), *IMPORT_Q2[1:]])
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic(records, end=2), target))
    assert triples_in(target.store) == set(triples_of(A))
    apply_until_idle(applier_of(FakeTopic(records), target, replay_end=2))
    assert triples_in(target.store) == set(triples_of(OF_Q2 + MORE_OF_Q2))


def test_the_rest_of_an_applied_mutation_is_no_loss_after_a_restart(capsys: pytest.CaptureFixture[str]) -> None:
    """Another one is open while it is completed, so that its second chunk is read again, and its first is not."""
    of_q3 = operation_records("Q3", "import", 1, TripleDiff(tuple(triples_of(TWO_OF_Q3))), characters=ONE_A_CHUNK)
    records = place_records([IMPORT_Q2[0], of_q3[0], IMPORT_Q2[1], of_q3[1]])
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic(records, end=3), target))
    assert offset_in(target.store) == 1
    capsys.readouterr()
    apply_until_idle(applier_of(FakeTopic(records), target, start=1, replay_end=3))
    assert triples_in(target.store) == set(triples_of(OF_Q2 + MORE_OF_Q2 + TWO_OF_Q3))
    (line,) = logged(capsys)
    assert (line["event"], line["dropped"], line["next_offset"]) == ("mutations_applied", 0, 4)


def statement_revision(rev: int, rank: str, qualifier: str = "") -> str:
    return f"""wd:Q1 schema:version {rev} ; p:P1 wds:Q1-a .
        wds:Q1-a ps:P1 "a" ; wikibase:rank wikibase:{rank}Rank . {qualifier}"""


FIRST, SECOND = statement_revision(1, "Normal"), statement_revision(2, "Preferred", 'wds:Q1-a pq:P7 "new" .')
IMPORT_STATEMENT = edit_records("Q1", 1, "", FIRST, characters=5_000)
CHANGE_STATEMENT = edit_records("Q1", 2, FIRST, SECOND, characters=5_000)
DELETE_STATEMENT = operation_records("Q1", "delete", 3)


@pytest.mark.parametrize(
    ("again", "stored_offset"),
    [
        # A chunk is open, and the store of an earlier version has one offset.
        ([], None),
        ([], 5),
        # The producer writes again what the store has.
        ([*CHANGE_STATEMENT, *DELETE_STATEMENT], 5),
        ([*IMPORT_STATEMENT, *CHANGE_STATEMENT, *DELETE_STATEMENT], 5),
    ],
)
@pytest.mark.parametrize("batch_triples", [1, 1_000])
def test_a_restart_writes_nothing_to_an_entity_that_is_gone(
    again: list[Record], stored_offset: int | None, batch_triples: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chunk holds the next offset back, from where the step of the deleted entity is read again."""
    first = [*IMPORT_STATEMENT, *IMPORT_Q2[:1], *CHANGE_STATEMENT, *TWO_Q3, *DELETE_STATEMENT]
    records = place_records([*first, *again])
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic(records, end=len(first)), target, batch_triples=batch_triples))
    store = MutationStore(StoreTarget(target.store), NAMESPACES, TOPIC)
    assert (store.adopt(), store.applied_offset) == (1, 5)
    if stored_offset is None:
        target.store.update(f"DELETE WHERE {{ ?position {APPLIED_OFFSET} ?offset }}")
    apply_until_idle(applier_of(FakeTopic(records), target, start=1, replay_end=5, batch_triples=batch_triples))
    assert triples_in(target.store) == set(triples_of(TWO_OF_Q3))
    assert (store.adopt(), store.applied_offset) == (1, len(records))
    absent = [line["absent"] for line in logged(capsys) if line["event"] == "mutations_applied"]
    assert sum(absent) == (1 if stored_offset is None or again[:1] == CHANGE_STATEMENT else 0)


@pytest.mark.parametrize(
    ("revs", "is_restarted", "has_second"), [((1, 2), False, True), ((1, 2), True, True), ((3, 2), True, False)]
)
def test_an_import_writes_all_of_an_entity(revs: tuple[int, int], is_restarted: bool, has_second: bool) -> None:
    """Where the state of rdf-decide was lost, it begins again at number 1 and imports what the store has."""
    versions = [f"wd:Q1 schema:version {rev} ; wdt:P1 {rev} ; p:P1 wds:Q1-{rev} ." for rev in revs]
    statements = [f"wds:Q1-{rev} ps:P1 {rev} ; wikibase:rank wikibase:NormalRank ." for rev in revs]
    first, second = (version + statement for version, statement in zip(versions, statements, strict=True))
    diffs = [diff_revisions(frozenset(), frozenset(triples_of(text)), NAMESPACES) for text in (first, second)]
    operations = [Operation("Q1", "import", n, None, f"2026-03-02T09:00:0{n}Z", 1, ()) for n in revs]
    records = place_records(
        made.record
        for operation, diff in zip(operations, diffs, strict=True)
        for made in mutation_records(operation, diff, topic=TOPIC, domain="e.org")
    )
    target = StoreTarget(pyoxigraph.Store())
    applier = applier_of(FakeTopic(records, end=1), target)
    apply_until_idle(applier)
    assert triples_in(target.store) == set(triples_of(first))
    assert all("schema.org/about" not in text for text in target.updates), "nothing was there to be deleted"
    if is_restarted:
        applier = applier_of(FakeTopic(records), target, start=1)
    topic = applier.records
    assert isinstance(topic, FakeTopic)
    topic.end, topic.is_idle = None, False
    apply_until_idle(applier)
    assert triples_in(target.store) == set(triples_of(second if has_second else first))


@pytest.mark.parametrize("is_restarted", [False, True])
def test_what_comes_too_late_is_named_and_does_not_hold_the_offset_back(
    is_restarted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing more comes behind a chunk, and its continuation comes when the time is over. Looks are 1 s apart."""
    records = [
        ChunkRecord(record.offset, record.value, record.headers, at_ms)
        for record, at_ms in zip(place_records([*IMPORT_Q1, *IMPORT_Q2]), (0, 1_000, 62_000), strict=True)
    ]
    target, topic = StoreTarget(pyoxigraph.Store()), FakeTopic(records, end=2)
    applier = applier_of(topic, target, incomplete_after="1m")
    apply_until_idle(applier)
    assert offset_in(target.store) == 1
    looks = iter(range(60))
    applier.run(lambda: next(looks, None) is None)
    assert offset_in(target.store) == 2
    if is_restarted:
        topic = FakeTopic(records)
        applier = applier_of(topic, target, start=2, replay_end=2, incomplete_after="1m")
    topic.end, topic.is_idle = None, False
    apply_until_idle(applier)
    assert (offset_in(target.store), triples_in(target.store)) == (3, set(triples_of(A)))
    events = logged(capsys)
    (line,) = (line for line in events if line["event"] == "mutation_incomplete")
    assert (line["entity"], line["offset"], line["sequence"], line["length"]) == ("Q2", 2, 1, 2)
    assert sum(line["dropped"] for line in events if line["event"] == "mutations_applied") == 2


@pytest.mark.parametrize(
    ("settings", "offsets"),
    [({}, [4]), ({"batch_triples": 2}, [1, 2, 4]), ({"batch_triples": 4}, [4]), ({"batch_triples": 1}, [1, 2, 4])],
)
def test_requests_are_full(settings: dict[str, Any], offsets: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    target = StoreTarget(pyoxigraph.Store())
    kept = []
    apply = MutationStore.apply

    def note(store: MutationStore, patch: Patch, next_offset: int, applied_offset: int) -> None:
        kept.append(next_offset)
        apply(store, patch, next_offset, applied_offset)

    monkeypatch.setattr(MutationStore, "apply", note)
    apply_until_idle(applier_of(FakeTopic(place_records([*IMPORT_Q1, *TO_B, *IMPORT_Q2])), target, **settings))
    assert kept == offsets
    assert len(target.updates) == len(offsets)


def test_what_a_restarted_producer_writes_again_is_no_divergence(capsys: pytest.CaptureFixture[str]) -> None:
    """`TO_B` is in the store; the producer was killed before it had written `TO_C`."""
    versions = [f"wd:Q1 schema:version {rev} ." for rev in range(4)]
    imported, to_2, to_3 = (
        edit_records("Q1", rev, versions[rev - 1], versions[rev], characters=500) for rev in (1, 2, 3)
    )
    records = place_records([*imported, *to_2, *to_2, *to_3])
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic(records, end=2), target))
    apply_until_idle(applier_of(FakeTopic(records), target, start=2, replay_end=2, count="probe"))
    assert triples_in(target.store) == set(triples_of(versions[3]))
    (*_, line) = logged(capsys)
    assert (line["mutations"], line["repeats"], line["missing"], line["unexpected"]) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("settings", "before", "records", "after"),
    [
        ({"unlinked": "delete"}, A + REFERENCE, edit_records("Q1", 2, A + REFERENCE, A), A),
        ({"unlinked": "keep"}, A + REFERENCE, edit_records("Q1", 2, A + REFERENCE, A), A + REFERENCE),
        ({"deletes": "ignore"}, A, DELETE_Q1, A),
        ({"deletes": "apply"}, A, DELETE_Q1, ""),
        (
            {"sitelinks": "as_sent", "batch_triples": 1},
            A + PAGE + about("Q1") + about("Q2"),
            edit_records("Q1", 2, PAGE + about("Q1"), "", characters=5_000),
            A + about("Q2"),
        ),
        (
            {"sitelinks": "shared", "batch_triples": 1},
            A + PAGE + about("Q1") + about("Q2"),
            edit_records("Q1", 2, PAGE + about("Q1"), "", characters=5_000),
            A + PAGE + about("Q2"),
        ),
    ],
)
def test_what_each_policy_does(settings: dict[str, Any], before: str, records: list[Record], after: str) -> None:
    target = StoreTarget(store_with(before))
    apply_until_idle(applier_of(FakeTopic(place_records(records)), target, **settings))
    assert triples_in(target.store) == set(triples_of(after))
    assert offset_in(target.store) == len(records)


@pytest.mark.parametrize(
    ("settings", "committed", "stored"), [({"offset": "kafka"}, [1, 2], None), ({"offset": "store"}, [], 2)]
)
def test_where_the_offset_is_kept(settings: dict[str, Any], committed: list[int], stored: int | None) -> None:
    topic = FakeTopic(place_records([*IMPORT_Q1, *TO_B]), poll_size=1)
    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(topic, target, batch_triples=1, **settings))
    assert (topic.committed, offset_in(target.store)) == (committed, stored)
    assert (topic.reported[-1:] == [2]) is (settings["offset"] == "store")
    assert triples_in(target.store) == set(triples_of(B))


def test_a_store_from_an_older_copy_is_brought_up_to_date_unless_its_offset_is_elsewhere() -> None:
    records = place_records([*IMPORT_Q1, *TO_B, *TO_C])
    for keeper, after in (("store", C), ("kafka", 'wd:Q1 wdt:P1 "a", "c" .')):
        target = StoreTarget(pyoxigraph.Store())
        apply_until_idle(applier_of(FakeTopic(records, end=1), target))
        copy = pyoxigraph.Store()
        copy.bulk_extend(target.store)
        apply_until_idle(applier_of(FakeTopic(records, end=2), target, start=1))
        start = offset_in(copy) if keeper == "store" else 2
        assert start is not None
        apply_until_idle(applier_of(FakeTopic(records), StoreTarget(copy), start=start, offset=keeper))
        assert triples_in(copy) == set(triples_of(after))


def test_a_store_that_is_restored_meanwhile_is_brought_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """Between two batches, when nothing fails: its offset says it."""
    records = place_records([*IMPORT_Q1, *TO_B, *TO_C])
    target = StoreTarget(pyoxigraph.Store())
    topic = FakeTopic(records, end=1)
    applier = applier_of(topic, target)
    apply_until_idle(applier)
    copy = pyoxigraph.Store()
    copy.bulk_extend(target.store)
    for end in (2, 3):
        topic.end, topic.is_idle = end, False
        apply_until_idle(applier)
        target.store = copy
    assert (applier.next_offset, offset_in(copy)) == (3, 3)
    assert triples_in(copy) == set(triples_of(C))
    (line,) = (line for line in logged(capsys) if line["event"] == "store_rewound")
    assert (line["store_offset"], line["expected_offset"]) == (1, 2)


@pytest.mark.parametrize("offset", [None, 2])
def test_a_store_that_another_process_has_changed_ends_this_one(offset: int | None) -> None:
    target = StoreTarget(pyoxigraph.Store())
    applier = applier_of(FakeTopic(place_records(IMPORT_Q1)), target)
    target.store = pyoxigraph.Store()
    if offset is not None:
        MutationStore(StoreTarget(target.store), NAMESPACES, TOPIC).write_offset(offset)
    with pytest.raises(RefusedError, match=f"the store's next offset of topic .* is {offset}, and 0 was written"):
        apply_until_idle(applier)


@pytest.mark.parametrize(
    ("settings", "before", "probed", "missing", "unexpected"),
    [
        ({}, "", 0, 0, 0),
        ({"count": "probe"}, A, 5, 0, 0),
        ({"count": "probe"}, OF_Q1_AT_1, 5, 1, 0),
        ({"count": "probe"}, "", 2, 0, 0),
        ({"count": "probe"}, A + C + "wd:Q3 wdt:P1 5 .", 5, 0, 1),
        ({"count": "probe"}, A + C + OF_Q2, 3, 0, 1),
        ({"count": "probe"}, A + OF_Q1_AT_3, 2, 0, 0),
        ({"count": "probe", "probe_share": "50%", "batch_triples": 1}, A, 2, 0, 0),
        ({"count": "probe", "atomic": False}, "", 0, 0, 0),
    ],
)
def test_divergence_is_measured_before_the_request(
    settings: dict[str, Any],
    before: str,
    probed: int,
    missing: int,
    unexpected: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With half a share and a request for each mutation, the second of the three is probed, and not the others."""
    records = place_records([*TO_B, *TO_C, *IMPORT_Q2])
    recorder = Recorder()
    apply_until_idle(applier_of(FakeTopic(records), StoreTarget(store_with(before)), recorder=recorder, **settings))
    lines = logged(capsys)
    totals = [sum(line[name] for line in lines) for name in ("probed", "missing", "unexpected")]
    assert totals == [probed, missing, unexpected]
    counts = recorder.measurements().counts
    assert counts.get((metrics.PROBED.name, ()), 0) == probed
    assert counts.get((metrics.DIVERGING.name, ("missing",)), 0) == missing


def test_the_log_says_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    records = [*IMPORT_Q1, *IMPORT_Q2[1:], *IMPORT_Q1, *IMPORT_Q2[:1], *IMPORT_Q2, *DELETE_Q1]
    applier = applier_of(FakeTopic(place_records(records)), StoreTarget(store_with(REFERENCE)))
    apply_until_idle(applier)
    incomplete, *rest = logged(capsys)
    assert (incomplete["event"], incomplete["entity"], incomplete["offset"]) == ("mutation_incomplete", "Q2", 1)
    assert (incomplete["sequence"], incomplete["length"]) == (1, 2)
    (line,) = rest
    done = {"next_offset": 7, "requests": 1, "mutations": 3, "repeats": 1, "dropped": 2, "cleared": 1}
    assert line | done == line
    assert (line["inserted"], line["deleted"], line["store_s"] > 0, line["poll_s"] > 0) == (2, 0, True, True)


def test_metrics_count_mutations_by_operation() -> None:
    recorder = Recorder()
    records = place_records([*IMPORT_Q1, *TO_B, *IMPORT_Q2, *DELETE_Q1])
    apply_until_idle(applier_of(FakeTopic(records), StoreTarget(pyoxigraph.Store()), recorder=recorder))
    measured = recorder.measurements()
    ops: tuple[Op, ...] = ("import", "diff", "delete")
    assert [measured.counts[metrics.MUTATIONS.name, (op,)] for op in ops] == [2, 1, 1]
    assert measured.counts[metrics.CHUNKS_DROPPED.name, ("orphan",)] == 0
    assert measured.level((metrics.EVENT_TIME.name, ())) == 1_772_442_000
    assert sum(measured.histograms[metrics.STORE_SECONDS.name, ("update",)].counts) == 1


def test_a_stop_is_heard_after_a_batch() -> None:
    target = StoreTarget(pyoxigraph.Store())
    applier = applier_of(FakeTopic(place_records([*IMPORT_Q1, *TO_B, *TO_C])), target, batch_triples=1)
    applier.run(lambda: bool(target.updates))
    assert (len(target.updates), offset_in(target.store), applier.next_offset) == (1, 1, 1)
    apply_until_idle(applier_of(FakeTopic(place_records([*IMPORT_Q1, *TO_B, *TO_C])), target, start=1))
    assert triples_in(target.store) == set(triples_of(C))


def test_a_stop_while_the_store_is_waited_for_ends_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    target = StoreTarget(pyoxigraph.Store())
    topic = FakeTopic(place_records(IMPORT_Q1))
    applier = applier_of(topic, target)

    def wait(_text: str) -> None:
        raise WaitEndedError

    monkeypatch.setattr(target, "update", wait)
    apply_until_idle(applier)
    assert (applier.next_offset, topic.reported) == (0, [0])


PAYLOAD = IMPORT_Q1[0].value
CLAIM = Claim("claim-checks", f"job/{hashlib.sha256(PAYLOAD).hexdigest()}", len(PAYLOAD), "0" * 64)


def claimed(value: bytes = b"{}", claim: Claim = CLAIM) -> ChunkRecord:
    return ChunkRecord(0, value, (*IMPORT_Q1[0].headers, *claim.headers()))


def test_a_chunk_that_went_to_the_object_store_is_read_from_there() -> None:
    asked = []

    def resolve(claim: Claim, place: str) -> bytes:
        asked.append((claim, place))
        return PAYLOAD

    target = StoreTarget(pyoxigraph.Store())
    apply_until_idle(applier_of(FakeTopic([claimed()]), target, resolve=resolve))
    assert triples_in(target.store) == set(triples_of(A))
    assert asked == [(CLAIM, f"{TOPIC}/0/0")]


def removed(_claim: Claim, _place: str) -> Suppressed:
    return Suppressed(suppressed="page", by="source/0/1")


def unavailable(_claim: Claim, place: str) -> bytes:
    raise PipelineError(f"claim check of {place} cannot be read")


@pytest.mark.parametrize(
    ("record", "resolve", "message"),
    [
        (ChunkRecord(0, None, ()), removed, "record rdf.mutation/0/0: mutation at offset 0 is not JSON"),
        (ChunkRecord(0, b"{}", ()), removed, "rdf_change"),
        (claimed(), removed, "was removed as suppressed by source/0/1"),
        (claimed(), unavailable, "cannot be read"),
        (ChunkRecord(0, b"{}", CLAIM.headers()[:2]), removed, "has no whole claim check: KeyError"),
    ],
)
def test_nothing_is_skipped(record: ChunkRecord, resolve: Any, message: str) -> None:
    target = StoreTarget(pyoxigraph.Store())
    with pytest.raises(PipelineError, match=message) as caught:
        apply_until_idle(applier_of(FakeTopic([record]), target, resolve=resolve))
    assert isinstance(caught.value, UnreadableSourceError) is (resolve is not unavailable)
    assert target.updates == []


def test_what_the_store_refuses_names_the_mutations(monkeypatch: pytest.MonkeyPatch) -> None:
    target = StoreTarget(pyoxigraph.Store())
    applier = applier_of(FakeTopic(place_records([*IMPORT_Q2, *IMPORT_Q1])), target)

    def refuse(_text: str) -> None:
        raise StoreRequestRefusedError("no such literal", hint="look at it")

    monkeypatch.setattr(target, "update", refuse)
    with pytest.raises(StoreRequestRefusedError, match=r"of rdf\.mutation/0 at offsets 0 to 2: no such") as caught:
        apply_until_idle(applier)
    assert caught.value.hint == "look at it"
