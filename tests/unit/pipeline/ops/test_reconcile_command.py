"""`pipeline reconcile` as an operator calls it, and what rdf-decide reads of it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.jobs.message import SourceMessage
from pipeline.ops import reconcile_command
from pipeline.records.record import Position
from pipeline.updater.source_event import EntityPages, parse_source_event
from pipeline.updater.transitions import decide
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, FakeTarget, opening

TOPIC = "eqiad.rdf-streaming-updater.reconcile"


@pytest.fixture
def target() -> FakeTarget:
    return FakeTarget()


def call(target: FakeTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, **config: Any) -> Result:
    monkeypatch.setattr(
        reconcile_command, "opened_topic", lambda _, topic: opening(FakeConsumer([], topic=topic).as_topic())
    )
    monkeypatch.setattr(reconcile_command, "opened_target", lambda *_: opening(target))
    file = write_config(tmp_path, **({"job": "rdf-decide"} | config))
    return CliRunner().invoke(main, ["reconcile", *arguments, "--config", str(file)])


def test_what_rdf_decide_makes_of_it(target: FakeTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = call(target, tmp_path, monkeypatch, "Q42", "L7:124")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"2 events written to {TOPIC}; rdf-decide makes the operations\n"
    assert target.finished == 2
    events = [
        parse_source_event(
            SourceMessage(Position(TOPIC, 0, offset), copy.key, copy.value, datetime.now(UTC)),
            EntityPages("www.wikidata.org"),
        )
        for offset, copy in enumerate(target.sent)
    ]
    assert [copy.key for copy in target.sent] == [b"Q42", b"L7"]
    operations = [
        (event.entity, transition.op, transition.rev)
        for event in events
        if event is not None
        for last in (90, -90)
        for transition in [decide(last, event.action, event.rev)]
    ]
    assert operations == [
        ("Q42", "reconcile", 90),
        ("Q42", "delete", 90),
        ("L7", "reconcile", 124),
        ("L7", "reconcile", 124),
    ]


@pytest.mark.parametrize(
    ("arguments", "config", "why"),
    [
        (["q42"], {}, "'q42' is no entity's id"),
        (["Q1", "Q42:0"], {}, "'0' is no revision of Q42"),
        (["Q42:"], {}, "'' is no revision of Q42"),
        (["Q42:٣"], {}, "'٣' is no revision of Q42"),
        (["Q42", "--topic", "other"], {}, "--topic other: the job does not read it"),
        (["Q42"], {"source": {"topics": ["a", "b"]}}, "the job reads no topic rdf-streaming-updater.reconcile"),
        (["Q42"], {"job": "rdf-resolve"}, "the job rdf-resolve has no state of entities"),
    ],
)
def test_what_is_refused_writes_nothing(
    target: FakeTarget,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    config: dict[str, Any],
    why: str,
) -> None:
    result = call(target, tmp_path, monkeypatch, *arguments, **config)
    assert (result.exit_code, target.sent) == (2, [])
    assert why in result.stderr
