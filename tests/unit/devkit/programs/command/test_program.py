"""A command as a program under test: its command line, what it is told, and what shows of it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.errors import UsageError
from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.kafka.emitted import Emitted
from devkit.observe.samples.sample import NOTHING_SEEN
from devkit.programs.command import view as view_module
from devkit.programs.command.command_environment import START, command_environment
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandKind, CommandProgram
from devkit.programs.command.view import CommandView
from devkit.programs.places import NOWHERE
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.spark.configuration import configuration
from devkit.traffic.publish import Publisher
from tests.unit.devkit.programs.context import program_context

MINE = CommandProgram(CommandLine(("mine", "x y"), Path("/nowhere")))
SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
TOPICS = ProgramTopics((SOURCE,), OUTPUT, ERROR, "deferred", defers=True)


def test_it_is_started_with_the_resolved_configuration(tmp_path: Path) -> None:
    launch = MINE.configure(NOWHERE, {"batch": {"max_offsets": 7}}).launch(program_context(tmp_path))
    assert launch.argv[-2:] == ("mine", "x y")
    config = json.loads(Path(launch.environment["DEVKIT_PIPELINE_CONFIG"]).read_text())
    assert (config["job"], config["batch"]["max_offsets"]) == ("html-enrichment", 7)
    assert launch.environment["AWS_REGION"] == "here"
    assert launch.environment["DEVKIT_ARM"] == "fixed"
    assert not (tmp_path / "spark-conf").exists()


def test_it_is_told_whether_there_is_a_checkpoint(tmp_path: Path) -> None:
    launch = MINE.configure(NOWHERE, {}).launch(program_context(tmp_path))
    assert launch.first.environment == {"DEVKIT_START": "new"}
    assert launch.again.environment == {"DEVKIT_START": "checkpoint"}


def test_it_is_known_by_its_command_line() -> None:
    assert MINE.command == "mine 'x y'"


def test_it_does_not_say_that_it_refuses(tmp_path: Path) -> None:
    assert MINE.configure(NOWHERE, {}).try_start(program_context(tmp_path)) is None


def test_the_rest_of_run_is_the_command_line() -> None:
    program = CommandKind().program("sh -c 'echo a b'")
    assert isinstance(program, CommandProgram)
    assert program.line.argv == ("sh", "-c", "echo a b")


def environment(**of_user: str) -> dict[str, str]:
    config = configuration(NOWHERE, {})
    return command_environment(config, Path("pipeline.yaml"), "fixed", {"AWS_REGION": "here"}, of_user)


def test_addresses_topics_and_arm() -> None:
    variables = environment()
    assert variables["DEVKIT_KAFKA_BOOTSTRAP"] == "127.0.0.1:1"
    assert variables["DEVKIT_MOCK_ENDPOINT"] == variables["DEVKIT_S3_ENDPOINT"] == "http://127.0.0.1:1"
    assert variables["DEVKIT_SOURCE_TOPIC"] == variables["DEVKIT_SOURCE_TOPICS"] == "mediawiki.page_change.v1"
    assert variables["DEVKIT_CHECKPOINT"] == "s3a://nowhere/here"
    assert (variables["DEVKIT_ARM"], variables["AWS_REGION"]) == ("fixed", "here")
    assert Path(variables["DEVKIT_PIPELINE_CONFIG"]).is_absolute()


def test_every_variable_is_documented() -> None:
    text = (Path(__file__).parents[5] / "docs" / "own-pipeline.md").read_text()
    ours = {name for name in environment() if name.startswith("DEVKIT_")} | {START}
    assert {name for name in ours if f"`{name}`" not in text} == set()


def test_the_users_settings_reach_it_but_for_proxies_and_other_stores() -> None:
    variables = environment(JAVA_HOME="/java", https_proxy="http://x", AWS_PROFILE="work", DEVKIT_ARM="theirs", A="b")
    assert (variables["JAVA_HOME"], variables["A"], variables["DEVKIT_ARM"]) == ("/java", "b", "fixed")
    assert variables.keys().isdisjoint({"https_proxy", "AWS_PROFILE"})
    # The run's processes have it set; a pipeline of modules beside each other needs it off.
    assert variables["PYTHONSAFEPATH"] == ""


class TestCommand:
    def test_it_is_taken_apart_as_in_a_shell_and_runs_in_the_users_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        own = CommandLine.parse("sh -c 'echo a b'", "--pipeline")
        assert own.argv == ("sh", "-c", "echo a b")
        assert own.started[:2] == ("sh", "-c")
        assert own.started[3:] == (str(tmp_path), *own.argv)

    def test_a_program_in_the_users_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "mine").write_text("#!/bin/sh\n")
        (tmp_path / "mine").chmod(0o755)
        assert CommandLine.parse("./mine", "--pipeline").argv == ("./mine",)

    def test_that_of_a_scenario_file_is_at_home_beside_it_and_has_the_kits_python(self, tmp_path: Path) -> None:
        (tmp_path / "mine.py").touch()
        own = CommandLine.parse("python mine.py", "run: command", tmp_path)
        assert own.argv == ("python", "mine.py")
        assert own.started[3:] == (str(tmp_path), sys.executable, "mine.py")
        with pytest.raises(UsageError, match=r"there is no file 'no_such.py' in ") as refused:
            CommandLine.parse("python no_such.py", "run: command", tmp_path)
        assert refused.value.hint == "its path is relative to the scenario's file"

    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("", "is empty"),
            ("  ", "is empty"),
            ("echo 'x", "No closing quotation"),
            ("no-such-program-at-all x", "'no-such-program-at-all' is no program"),
            ("python no/such.py", "there is no file 'no/such.py' in /"),
            ("python3 -u -X dev no_such.py --once", "there is no file 'no_such.py' in /"),
            ("sh -e -o nounset no_such.sh", "there is no file 'no_such.sh' in /"),
        ],
    )
    def test_what_cannot_be_run(self, command: str, message: str) -> None:
        with pytest.raises(UsageError, match=f"^--pipeline.*{message}") as refused:
            CommandLine.parse(command, "--pipeline")
        assert refused.value.hint is not None

    @pytest.mark.parametrize(
        "command",
        ["python -c 'print(1)' x.py", "python -m no_such", "sh -ec 'true' x", "python", "python -", "echo no_such.py"],
    )
    def test_a_file_is_looked_for_only_where_one_is_run(self, command: str) -> None:
        assert CommandLine.parse(command, "--pipeline").argv


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
