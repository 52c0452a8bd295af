"""What the output topic says is to be gone, and what `claims suppress` does about it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.__main__ import main
from pipeline.claims import commands
from pipeline.claims.suppressed_claims import suppressed_claims
from pipeline.consumer.delivery import Delivery, UnreadableOutputError, read
from pipeline.ops.source import Bounds, SourceRecord
from pipeline.ops.spark_checkpoint import Offsets
from pipeline.records.claim_check import Claim
from pipeline.records.claim_key import mark_of
from pipeline.records.record import Headers, Position
from tests.unit.pipeline.claims.conftest import BUCKET, Bucket
from tests.unit.pipeline.least_config import write_config

MakeEvent = Callable[..., dict[str, Any]]
OUTPUT = "mediawiki.page_html_content_change.v1"
HIDDEN = {"is_content_visible": False}
PAYLOAD = f"/00/{'0' * 64}"


@dataclass
class Outputs:
    """Takes the place of `SourceTopic`: one partition of outputs, each of the next source event, or of one again. A key
    of one part is the prefix of a payload's.
    """

    written: list[tuple[bytes, Headers]] = field(default_factory=list)
    topic: str = OUTPUT

    def add(
        self, event: dict[str, Any], key: str | None = None, bucket: str = BUCKET, offset: int | None = None
    ) -> "Outputs":
        if key is not None and "/" not in key:
            key += PAYLOAD
        claim = () if key is None else Claim(bucket, key, 1, key.rpartition("/")[2]).headers()
        source = Position("source", 0, len(self.written) if offset is None else offset)
        self.written.append((orjson.dumps(event), source.headers() + claim))
        return self

    def deliveries(self) -> list[Delivery]:
        return [read(f"out/0/{number}", *record) for number, record in enumerate(self.written)]

    def gone(self) -> list[str]:
        return [claim.key.removesuffix(PAYLOAD) for claim in suppressed_claims(self.deliveries(), BUCKET).to_remove()]

    def bounds(self) -> Bounds:
        return Bounds({0: 0}, {0: len(self.written)})

    def records(self, first: Offsets, end: Offsets) -> Iterator[SourceRecord]:
        for number in range(first[0], end[0]):
            value, headers = self.written[number]
            yield SourceRecord(0, number, number, None, value, headers)


@pytest.mark.parametrize(
    ("outputs", "gone"),
    [
        # What was named before a delete is to go, and what comes behind it stays.
        ("edit:first move:second delete", ["first", "second"]),
        ("edit:first move:second delete undelete:third", ["first", "second"]),
        ("edit:first move:second delete undelete:third delete", ["first", "second", "third"]),
        # Named again behind the delete: a batch was repeated, and its delete is still to come again; or a replay.
        ("edit:key delete edit:key", []),
        ("edit:key delete edit:key delete", ["key"]),
        # A delete that is repeated takes nothing of an undelete behind it: the command would remove for good what the
        # undelete's event is about to name again, or has named meanwhile.
        ("edit:first delete undelete:second edit:other@0", ["first"]),
        ("edit:first delete undelete:second edit:other@0 delete@1", ["first", "other"]),
        ("edit:first delete undelete:second edit:other@0 delete@1 delete@3", ["first", "other", "second"]),
        # That of a topic which was made again is no repeat.
        ("edit:key@900 delete@4", ["key"]),
        ("edit:backups/yesterday.tar edit:key delete", ["key"]),
    ],
)
def test_what_is_to_go(make_event: MakeEvent, outputs: str, gone: list[str]) -> None:
    """Outputs of a page: what an event was, which key it names, and its offset if it is not the next one."""
    topic = Outputs()
    for output in outputs.split():
        step, _, offset = output.partition("@")
        kind, _, key = step.partition(":")
        topic.add(make_event(kind), key or None, offset=int(offset) if offset else None)
    assert topic.gone() == gone


def test_a_hidden_revision_takes_its_own_and_its_child_s(make_event: MakeEvent) -> None:
    topic = Outputs()
    for revision, parent in ((10, 0), (20, 10), (30, 20)):
        topic.add(make_event(revision={"rev_id": revision, "rev_parent_id": parent}), str(revision))
    topic.add(make_event("visibility_change", revision={"rev_id": 10} | HIDDEN))
    assert topic.gone() == ["10", "20"]


def test_other_pages_and_other_buckets_are_not_meant(make_event: MakeEvent) -> None:
    topic = Outputs().add(make_event(page_id=8), "other page").add(make_event(wiki_id="dewiki"), "other wiki")
    assert topic.add(make_event(), "key", "elsewhere").add(make_event("delete")).gone() == []


def test_the_first_suppression_is_named(make_event: MakeEvent) -> None:
    topic = Outputs().add(make_event(), "key").add(make_event("visibility_change", revision=HIDDEN))
    (claim,) = suppressed_claims(topic.add(make_event("delete")).deliveries(), BUCKET).to_remove()
    assert (claim.suppression.scope, claim.by) == ("revision", Position("source", 0, 1))


events = st.one_of(
    st.tuples(st.just("edit"), st.integers(1, 3), st.sampled_from(["a", "b"])),
    st.tuples(st.just("hide"), st.integers(1, 3), st.none()),
    st.just(("delete", 1, None)),
)
processes = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.lists(events, max_size=8), processes=processes)
def test_repeats_take_nothing_that_a_later_event_has_named(
    make_event: MakeEvent, plan: list[tuple[str, int, str | None]], processes: list[tuple[int, int]]
) -> None:
    """Each process goes on from the last commit, and the last one to the end."""

    def key(offset: int) -> str | None:
        _, revision, name = plan[offset]
        return None if name is None else f"{revision}{name}"

    def wanted(emitted: set[int]) -> set[str]:
        """What an event has named that no later one suppresses."""
        found = set()
        for offset in emitted:
            named, revision = key(offset), plan[offset][1]
            later = [plan[at] for at in emitted if at > offset and key(at) is None]
            if named and not any(what == "delete" or hidden in (revision, revision - 1) for what, hidden, _ in later):
                found.add(named)
        return found

    topic, emitted, committed = Outputs(), set[int](), 0
    for reached, commit in (*processes, (len(plan), 0)):
        for offset in range(committed, min(reached, len(plan))):
            what, revision, _ = plan[offset]
            hidden = HIDDEN if what == "hide" else {}
            event = make_event(
                "visibility_change" if what == "hide" else what,
                meta={"id": f"event-{offset}"},
                revision={"rev_id": revision, "rev_parent_id": revision - 1} | hidden,
            )
            topic.add(event, key(offset), offset=offset)
            emitted.add(offset)
            assert wanted(emitted).isdisjoint(topic.gone())
        committed = max(committed, min(commit, reached, len(plan)))
    named = {name for offset in emitted if (name := key(offset))}
    assert set(topic.gone()) == named - wanted(emitted)


def test_an_output_of_no_page_change_is_an_error_with_its_place() -> None:
    topic = Outputs().add({"meta": {"id": "a"}, "edits": 3})
    with pytest.raises(UnreadableOutputError, match="record out/0/0 is of no page change: KeyError"):
        topic.gone()


Suppress = Callable[..., Result]


@pytest.fixture
def topic() -> Outputs:
    return Outputs()


@pytest.fixture
def suppress(tmp_path: Path, bucket: Bucket, topic: Outputs, monkeypatch: pytest.MonkeyPatch) -> Suppress:
    @contextmanager
    def opened(_bootstrap: str, name: str, **_: Any) -> Iterator[Outputs]:
        assert name == OUTPUT
        yield topic

    monkeypatch.setattr(commands, "opened_topic", opened)
    monkeypatch.setattr(commands, "store_client", lambda _: bucket)
    file = write_config(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["claims", "suppress", "--config", str(file), *arguments])


def test_the_command_removes_what_is_still_there(
    suppress: Suppress, topic: Outputs, bucket: Bucket, make_event: MakeEvent
) -> None:
    old, kept = bucket.put(b"of an older version"), bucket.put(b"of another page")
    topic.add(make_event(), old).add(make_event(), "gone already").add(make_event(page_id=8), kept)
    topic.add(make_event("delete"))
    dry = suppress("--dry-run")
    assert (dry.exit_code, f"would remove {old}, suppressed by source/0/3" in dry.output) == (0, True), dry.output
    assert set(bucket.objects) == {old, kept}
    done = suppress()
    assert done.exit_code == 0, done.output
    assert set(bucket.objects) == {mark_of(old), kept}
    assert done.output.splitlines() == [
        f"reading {OUTPUT}: 4 offsets",
        f"{OUTPUT}: 4 records; 2 claim checks are deleted or hidden since",
        f"removed {old}, suppressed by source/0/3",
        "1 removed, 1 were gone before",
    ]
    assert suppress().output.endswith("0 removed, 2 were gone before\n")


def test_a_store_that_does_not_answer(
    suppress: Suppress, topic: Outputs, bucket: Bucket, make_event: MakeEvent
) -> None:
    topic.add(make_event(), bucket.put(b"1")).add(make_event("delete"))
    bucket.down = True
    done = suppress()
    assert (done.exit_code, "does not answer" in done.stderr) == (1, True)
