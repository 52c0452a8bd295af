"""Whose checkpoint it is, and that `checkpoint verify` and a start give one answer on a damaged one."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import CHOICES, NewStart, parse_new
from pipeline.deferral.ledger_start import LedgerMark
from pipeline.driver import query
from pipeline.driver.identity import Identity, require_checkpoint, require_own
from pipeline.errors import RefusedError
from pipeline.ops import checkpoint_commands
from pipeline.ops.source import SourceTopic
from pipeline.state.state_mark import StateMark
from tests.unit.pipeline.conftest import MakeConfig
from tests.unit.pipeline.driver.hadoop_files import Files, spark
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.ops.damaged import DAMAGES, WHOLE
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import TOPIC, recorded

OWN = Identity(job="html-enrichment", source="page_change", cluster="c1", sink="html")


OLD_FILE = '{"job": "html-enrichment", "source": "page_change", "cluster": "c1", "sink": "html"}'
STATE = {"deduplicate": {"within": "10m"}}


def test_an_identity_comes_from_the_configuration_and_survives_its_file(make_config: MakeConfig) -> None:
    made = Identity.of(make_config(), "c1")
    source, sink = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
    assert made == Identity(job="html-enrichment", source=source, cluster="c1", sink=sink)
    text = made.model_dump_json()
    assert Identity.read(text, "x") == made
    assert Identity.read(text.replace("{", '{"more": 1, ', 1), "x") == made, "a later version may say more"
    assert json.loads(text)["source"] == source, "one topic stands in the file as it always did"
    assert Identity.read(OLD_FILE, "x") == OWN


def test_several_topics_are_a_set(make_config: MakeConfig) -> None:
    """In whatever order the configuration names them; one more or one less is another job's."""
    topics = ["b", "a"], ["a", "b"], ["a"]
    made, other_order, fewer = (Identity.of(make_config(source={"topics": of}), None) for of in topics)
    assert made == other_order == Identity.read(made.model_dump_json(), "x")
    assert "from topics a, b to" in made.in_words()
    require_own(made, other_order, checkpoint="place", topics=["a", "b"])
    with pytest.raises(RefusedError, match=r"source topic a, b, not a$"):
        require_own(made, fewer, checkpoint="place")
    with pytest.raises(RefusedError, match="offsets of topic c, not a, b"):
        require_own(None, made, checkpoint="place", topics=["a", "c"])


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", '{"job": 5}'])
def test_a_file_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match=r"checkpoint s3a://b/c: job.json does not say whose it is: "):
        Identity.read(text, "s3a://b/c")


def own(**changes: Any) -> Identity:
    return OWN.model_copy(update=changes)


ID_A, ID_B = ({"page_change": number} for number in "ab")


@pytest.mark.parametrize(
    ("found", "ours", "topics", "message"),
    [
        (own(job="content-enrichment"), OWN, [], "job content-enrichment, not html-enrichment"),
        (own(source=("other",)), OWN, [], "source topic other, not page_change"),
        (own(source=("a", "b")), OWN, [], "source topic a, b, not page_change"),
        (own(sink="other"), OWN, [], "sink topic other, not html"),
        (own(cluster="c2"), OWN, [], "source cluster c2, not c1"),
        (own(source_ids=ID_A), own(source_ids=ID_B), [], "id of topic page_change a, not b"),
        (None, OWN, ["b", "a", "page_change"], "offsets of topic a, b, not page_change"),
    ],
)
def test_another_jobs_checkpoint_is_refused_with_the_choices(
    found: Identity | None, ours: Identity, topics: list[str], message: str
) -> None:
    with pytest.raises(RefusedError, match=f"checkpoint place is another job's: {message}$") as caught:
        require_own(found, ours, checkpoint="place", topics=topics)
    assert CHOICES in str(caught.value.hint)
    assert "checkpoint fork" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        (OWN, OWN),
        (own(cluster=None), OWN),
        (OWN, own(cluster=None)),
        (None, OWN),
        (own(source_ids=ID_A), OWN),
        (own(source_ids=ID_A), own(source_ids=ID_A)),
    ],
    ids=["its own", "of no cluster", "by a cluster that does not say", "no mark", "by a broker without ids", "ids"],
)
def test_ones_own_and_one_that_nobody_has_marked_are_taken(found: Identity | None, ours: Identity) -> None:
    require_own(found, ours, checkpoint="place", topics=["page_change"])


def test_a_copy_gets_the_output_of_the_job_that_starts_from_it() -> None:
    copied = Identity.read(OWN.model_copy(update={"sink": None}).model_dump_json(), "x")
    other = OWN.model_copy(update={"sink": "other"})
    require_own(copied, other, checkpoint="place")
    assert copied.completed(other, None) == other
    assert copied.in_words() == (
        "html-enrichment, from topic page_change in cluster c1; a copy, which no job has started from"
    )
    with pytest.raises(RefusedError, match=r"is another job's: job html-enrichment, not rdf-decide$"):
        require_own(copied, other.model_copy(update={"job": "rdf-decide"}), checkpoint="place")


@pytest.mark.parametrize(
    "entries",
    [
        [],
        ["metadata", "sources", "offsets", "commits"],
        ["job.json", ".job.json.crc", ".metadata.crc", "state"],
        ["lost+found", ".snapshot"],
    ],
)
def test_a_place_that_is_empty_or_a_checkpoint(entries: list[str]) -> None:
    require_checkpoint(entries, "place")


def test_a_place_that_holds_something_else_is_not_written_to() -> None:
    with pytest.raises(RefusedError, match="place is no checkpoint of a job's: it holds a, b, c and 1 more"):
        require_checkpoint(["d", "c", "metadata", "b", "a"], "place")


MARK = LedgerMark("ledger", "id-1", 4)


def test_a_file_of_an_earlier_version_is_read_and_completed() -> None:
    earlier = Identity.read(OLD_FILE.replace('"c1"', "null"), "x")
    assert (earlier.source_ids, earlier.ledger) == ({}, None)
    completed = earlier.completed(own(source_ids=ID_A), MARK)
    assert completed == own(source_ids=ID_A, ledger=MARK)
    assert Identity.read(completed.model_dump_json(), "x") == completed


def test_what_a_start_makes_of_the_state_is_written() -> None:
    state = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=2, delay_ms=9)
    known, ours = (own(state=state.model_copy(update={"delay_ms": ms})) for ms in (9, 5))
    assert known.completed(ours, None) == ours, "the shortest delay"
    assert known.completed(OWN, None) == known


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (LedgerMark("ledger", "id-1", 9), MARK),
        (None, MARK),
        (LedgerMark("ledger", "id-1", 1), LedgerMark("ledger", "id-1", 1)),
        (LedgerMark("other", "id-2", 1), LedgerMark("other", "id-2", 1)),
    ],
    ids=[
        "nothing to write at each start",
        "a job that defers nothing for once",
        "an emptied one, or the next restart would be refused again",
        "an operator has said so",
    ],
)
def test_what_is_known_of_a_ledger_stays(given: LedgerMark | None, kept: LedgerMark) -> None:
    assert own(ledger=MARK).completed(OWN, given) == own(ledger=kept)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return recorded(tmp_path)


def verify(place: Path, monkeypatch: pytest.MonkeyPatch, source: dict[str, object]) -> Result:
    @contextmanager
    def opened(_bootstrap: str, topic: str) -> Iterator[SourceTopic]:
        rows = [Row(0, offset, 1_767_225_600_000 + offset) for offset in range(25)]
        yield FakeConsumer(rows, partitions=1, topic=topic).as_topic()

    monkeypatch.setattr(checkpoint_commands, "opened_topic", opened)
    source = {"bootstrap_servers": "broker:9092", "topic": TOPIC, **source}
    file = write_config(place.parent, source=source, checkpoint=str(place))
    return CliRunner().invoke(main, ["checkpoint", "verify", "--config", str(file)])


def start(
    make_config: Callable[..., PipelineConfig], place: Path, source: dict[str, object], new: NewStart | None = None
) -> None:
    config = make_config(source={"topic": TOPIC, **source}, checkpoint=str(place))
    query._take_checkpoint(spark(Files()), config, new, Identity.of(config, None), slots=3)


def test_a_job_that_stopped_anywhere_goes_on(
    make_config: Callable[..., PipelineConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (name, change) in enumerate(WHOLE.items()):
        place = recorded(tmp_path / str(number))
        change(place)
        assert verify(place, monkeypatch, {}).exit_code == 0, name
        start(make_config, place, {})


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_has_one_answer(
    make_config: Callable[..., PipelineConfig], place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    damage, why = DAMAGES[name]
    damage(place)
    source = STATE if name == "no state" else {}
    verified = verify(place, monkeypatch, source)
    assert verified.exit_code == 2
    assert why in verified.stdout + verified.stderr
    for new in (None, parse_new("earliest", datetime(2026, 1, 1, tzinfo=UTC))):
        with pytest.raises(RefusedError) as refused:
            start(make_config, place, source, new)
        assert str(place) in str(refused.value)
        assert why in str(refused.value)
        assert "another program" not in str(refused.value)


def test_each_damage_is_named(make_config: Callable[..., PipelineConfig], place: Path) -> None:
    for name in ("no metadata", "two commits missing"):
        DAMAGES[name][0](place)
    with pytest.raises(RefusedError, match=r"is damaged: the file metadata is missing.*\nbatch 2 is planned and the"):
        start(make_config, place, {})


def test_a_start_reads_few_files(make_config: Callable[..., PipelineConfig], place: Path) -> None:
    """However many batches the logs have: metadata, the beginning, the last two plans and the last commit."""
    files = Files()
    config = make_config(source={"topic": TOPIC}, checkpoint=str(place))
    for number in range(3, 100):
        for log in ("offsets", "commits"):
            (place / log / str(number)).write_bytes((place / log / "2").read_bytes())
    query._take_checkpoint(spark(files), config, None, Identity.of(config, None), slots=3)
    assert len(files.opened) == 5
