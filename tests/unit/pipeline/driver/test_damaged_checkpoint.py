"""`checkpoint verify` and a job's start give one answer on a damaged checkpoint: exit code 2, and the file by name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart, parse_new
from pipeline.driver import query
from pipeline.driver.identity import Identity
from pipeline.errors import RefusedError
from pipeline.ops import checkpoint_commands
from pipeline.ops.source import SourceTopic
from tests.unit.pipeline.driver.hadoop_files import Files, spark
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.ops.damaged import DAMAGES, WHOLE
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import TOPIC, recorded

STATE = {"deduplicate": {"within": "10m"}}


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
