"""What shows of a pipeline, and what stands in where nothing does."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.kafka.emitted import Emitted
from devkit.observe.samples.sample import NOTHING_SEEN
from devkit.programs.command import view as view_module
from devkit.programs.command.view import CommandView
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.traffic.publish import Publisher

SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
TOPICS = ProgramTopics((SOURCE,), OUTPUT, ERROR, "deferred", defers=True)


class Stage:
    """An arm's state, and topics that hold what the test says."""

    def __init__(self) -> None:
        self.state = ProgramState(source_ends={(SOURCE, 0): 3})
        self.requests = 0
        self.left: dict[str, list[Position]] = {OUTPUT: [], ERROR: []}
        self.view = CommandView(self.state, "127.0.0.1:1", TOPICS, requests=lambda: self.requests)

    def read(self, _bootstrap: str, topic: str) -> list[Arrival]:
        return [Arrival(topic, 0, at, b"", {}, source, 0) for at, source in enumerate(self.left[topic])]

    def look(self, fates: Sequence[str], *, published_all: bool = True, last: bool = False, **changes: float) -> None:
        """`fates` are those of the source's offsets, from 0."""
        entries = [
            SimpleNamespace(topic=SOURCE, partition=0, offset=offset, expected=SimpleNamespace(fate=fate))
            for offset, fate in enumerate(fates)
        ]
        publisher = SimpleNamespace(manifest=lambda: SimpleNamespace(entries=entries))
        emitted = {"outputs": len(self.left[OUTPUT]), "errors": len(self.left[ERROR])}
        sample = NOTHING_SEEN.model_copy(update={"source_end": 3} | emitted | changes)
        self.view.look(cast(Publisher, publisher), sample, published_all=published_all, last=last)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage()
    monkeypatch.setattr(view_module, "read_topic", made.read)
    return made


def deferrals(*ever: str) -> Deferrals:
    return cast(Deferrals, SimpleNamespace(entries=SimpleNamespace(ever=ever)))


def test_nothing_but_the_topics(stage: Stage) -> None:
    stage.look(["output"])
    assert stage.view.not_observable(deferrals()) == {"offsets", "checkpoint", "batches", "words", "deferrals"}
    assert not stage.state.drained
    assert stage.view.committed() == {}
    assert not any(map(stage.view.refused, (1, 2, -9))), "no exit code is a refusal"


def test_it_is_done_when_all_that_is_due_has_left(stage: Stage) -> None:
    """What is filtered is not due; an output and an error are both ways to leave."""
    stage.left = {OUTPUT: [(SOURCE, 0, 0)], ERROR: [(SOURCE, 0, 2)]}
    stage.look(["output", "filtered", "error"])
    assert stage.state.emitted == Emitted(2, 2, names_sources=True)
    assert stage.state.drained
    assert stage.view.committed() == {(SOURCE, 0): 3}


def test_it_is_not_done_while_more_may_be_published(stage: Stage) -> None:
    stage.left[OUTPUT] = [(SOURCE, 0, 0)]
    stage.look(["output"], published_all=False)
    assert stage.state.emitted == Emitted(1, 1, names_sources=True)
    assert not stage.state.drained


def test_committed_offsets_count_where_they_are_shown(stage: Stage) -> None:
    stage.state.committed = {(SOURCE, 0): 1}
    stage.left[OUTPUT] = [(SOURCE, 0, 0)]
    stage.look(["output"])
    assert (stage.state.emitted, stage.state.drained) == (None, False)
    assert stage.view.committed() == {(SOURCE, 0): 1}


def test_what_is_committed_and_not_emitted_may_still_be_at_work(stage: Stage) -> None:
    """All offsets are committed: so says the arm before each look."""
    stage.state.committed = {(SOURCE, 0): 3}
    looks: list[tuple[float, dict[str, float], bool]] = [
        (20, {"in_flight": 1, "requests": 3}, False),
        (25, {"in_flight": 1, "requests": 3}, False),
        (34.9, {"requests": 3}, False),
        (35, {"requests": 3}, True),
        (36, {"requests": 4}, False),
        (46, {"requests": 4}, True),
    ]
    for at_s, seen, drained in looks:
        stage.state.drained = True
        stage.look(["output"], at_s=at_s, **seen)
        assert (at_s, stage.state.drained, stage.state.emitted) == (at_s, drained, None)
    stage.left[OUTPUT], stage.state.drained = [(SOURCE, 0, 0)], True
    stage.look(["output"], at_s=46.1)
    assert stage.state.drained


def test_offsets_where_it_says_they_are_are_no_checkpoint(stage: Stage) -> None:
    stage.state.committed, stage.state.stated_offsets = {(SOURCE, 0): 1}, {"group": "mine"}
    assert stage.view.shows_offsets
    assert stage.view.not_observable(deferrals()) == {"checkpoint", "batches", "words", "deferrals"}


def test_what_it_shows_is_seen(stage: Stage) -> None:
    stage.state.committed, stage.state.has_words = {(SOURCE, 0): 1}, True
    stage.state.batches.begin(0)
    assert stage.view.not_observable(deferrals("something")) == frozenset()


def test_records_without_their_source_cannot_be_told_apart(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "read_topic", lambda _, topic: [Arrival(topic, 0, 0, b"", {}, None, 0)])
    stage.left[OUTPUT] = [(SOURCE, 0, 0)]  # as many as there are records
    stage.look(["output"])
    assert "sources" in stage.view.not_observable(deferrals())


@pytest.mark.parametrize(("requests", "left", "alive"), [(0, [], False), (1, [], True), (0, [(SOURCE, 0, 0)], True)])
def test_life_is_a_request_or_a_record(stage: Stage, requests: int, left: list[Position], alive: bool) -> None:
    stage.requests, stage.left[ERROR] = requests, left
    assert stage.view.shows_life() is alive
