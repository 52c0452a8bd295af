"""What the programs of an arm are started with besides their configuration: where it is given, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import InvalidFileError, StackError
from devkit.observe.arm_observation import ArmObservation
from devkit.programs.launch import Launch
from devkit.report.result import CauseResult
from devkit.scenario.cause import NamedCause
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.placeholders import OF_CONFIG, filled_where_known, misspelt_places
from devkit.scenario.resolve import resolve
from devkit.scenario.stretch import not_stretched, stretch_scenario
from devkit.verdict.shown_cause import shown_causes
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import an_observation, observed_with
from tests.unit.devkit.programs.context import program_context

Write = Callable[..., Path]
RAW = "|\n      batch: { max_ofsets: 50 }\n      checkpoint: '{checkpoint}'\n"


@pytest.fixture
def write(edited: Edited, tmp_path: Path) -> Write:
    def written(of_incident: str, *, top: str = "") -> Path:
        file = tmp_path / "s.yaml"
        text = edited(("arms:\n  incident:\n", f"{top}arms:\n  incident:\n    {of_incident}\n"))
        file.write_text(text)
        return file

    return written


@pytest.fixture
def load(write: Write) -> Callable[..., Scenario]:
    return lambda *given, **keys: load_scenario(write(*given, **keys))


Load = Callable[..., Scenario]


class TestLayers:
    def test_an_arms_own_lie_on_what_is_shared(self, load: Load) -> None:
        top = "programs:\n  html:\n    run: pipeline\n    slots: 3\n    spark: { spark.a: 1, spark.b: x }\n"
        top += "    arguments: [--slots, '3']\n    environment: { LEVEL: info, MODE: plain }\n"
        scenario = load(
            "spark: { spark.b: true }\n    environment: { LEVEL: debug }\n"
            "    programs: { html: { slots: 9, arguments: [--x] } }",
            top=top,
        )
        of_incident, of_fixed = (resolve(scenario).arms[arm].programs["html"].launch for arm in ("incident", "fixed"))
        assert (of_fixed.slots, of_fixed.spark) == (3, {"spark.a": "1", "spark.b": "x"})
        assert of_fixed.arguments == ("--slots", "3")
        assert (of_incident.slots, of_incident.spark) == (9, {"spark.a": "1", "spark.b": "true"})
        assert of_incident.arguments == ("--x",)
        assert of_incident.variables == {"LEVEL": "debug", "MODE": "plain"}

    def test_a_directory_for_temporary_files_is_the_arms_own(self, load: Load) -> None:
        scenario = load("environment: { TMPDIR: /small }")
        assert resolve(scenario).arms["incident"].programs[""].launch.scratch == Path("/small")
        assert resolve(scenario).arms["fixed"].programs[""].launch.scratch is None

    def test_they_are_differences_between_arms(self, load: Load) -> None:
        scenario = load(
            f"slots: 2\n    arguments: [--a, b]\n    environment: {{ A: b }}\n    spark: {{ spark.x.y: 7 }}\n"
            f"    raw_config: {RAW}"
        )
        found = resolve(scenario).difference
        assert {key: found[key]["incident"] for key in ("slots", "arguments", "environment.A", "spark.x.y")} == {
            "slots": 2,
            "arguments": "--a b",
            "environment.A": "b",
            "spark.x.y": "7",
        }
        assert found["raw_config"]["incident"].startswith("batch: { max_ofsets: 50 } / checkpoint")


def test_a_raw_configuration_that_is_not_there_is_refused(write: Write) -> None:
    with pytest.raises(InvalidFileError, match="could not be read: No such file or directory; its path is relative to"):
        load_scenario(write("raw_config: colleague.yaml"))


class TestTimeline:
    OWN = "timeline: [{ name: still, do: { pause: { part: kafka } }, at: 5s, for: 2s }]"
    STILL = "{ name: still, do: { pause: { part: kafka } }, at: 1s }"
    SHARED = f"timeline: [{STILL}, {{ name: b, do: {{ cpu_load: {{}} }}, at: 1s }}]\n"

    def test_an_arms_own_takes_the_place_of_the_shared_one(self, load: Load) -> None:
        scenario = load(self.OWN, top=self.SHARED)
        assert [f"{item.name} {item.beginning}" for item in scenario.timeline_of("incident")] == [
            "still at 5s",
            "b at 1s",
        ]
        assert [f"{item.name} {item.beginning}" for item in scenario.timeline_of("fixed")] == ["still at 1s", "b at 1s"]
        assert resolve(scenario).difference["timeline.still"] == {
            "incident": "pause: {part: kafka}, at 5s, for 2s",
            "fixed": "pause: {part: kafka}, at 1s",
        }

    def test_two_faults_of_one_arm_do_not_clash_with_another_arms(self, load: Load) -> None:
        shared = "timeline: [{ name: c, do: { pause: { part: kafka } }, at: 5s, arms: [fixed] }]\n"
        assert len(load(self.OWN, top=shared).timeline_of("incident")) == 1


class TestStretch:
    def test_the_own_timeline_is_stretched_and_the_rest_stays(self, load: Load) -> None:
        slower = stretch_scenario(resolve(load(f"{TestTimeline.OWN}\n    slots: 2\n    spark: {{ spark.x: 1 }}")), 3)
        (item,) = slower.timeline_of("incident")
        assert item.beginning == "at 15s"
        assert resolve(slower).arms["incident"].programs[""].launch.slots == 2
        assert resolve(slower).arms["incident"].programs[""].launch.spark == {"spark.x": "1"}

    def test_what_may_be_a_time_keeps_the_files_pace(self, load: Load) -> None:
        scenario = load(f"arguments: [--after, 3s]\n    spark: {{ spark.t: 10s, spark.n: 8 }}\n    raw_config: {RAW}")
        places = not_stretched(resolve(scenario))
        assert places == ("spark.t", "its arguments", "its raw configuration")


class TestContext:
    def test_arguments_and_variables_are_added_and_the_file_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "pipeline.yaml").write_text("{}")
        given: dict[str, Any] = {"arguments": ("--x",), "environment": {"B": "2"}, "raw_config": "a: [1\n"}
        launch = program_context(tmp_path, **given).completed(Launch(("run",), {"A": "1", "B": "1"}))
        assert (launch.argv, launch.environment) == (("run", "--x"), {"A": "1", "B": "2"})
        assert (tmp_path / "pipeline.yaml").read_text() == "a: [1\n"

    def test_a_kind_that_reads_no_such_file_cannot_get_one(self, tmp_path: Path) -> None:
        with pytest.raises(StackError, match=r"reads no pipeline\.yaml"):
            program_context(tmp_path, raw_config="x").completed(Launch(("run",), {}))


class TestConfirmedBySpark:
    LOGGED = an_observation(spark={"spark.master": "local[2]", "spark.x.y": "7"})
    OTHER = an_observation(spark={"spark.master": "local[4]"})
    SILENT = observed_with(OTHER, spark=None)
    OWN = "slots: 2\n    spark: { spark.x.y: 7 }"
    NOT_CONFIRMED = "the program of fixed did not confirm it in its log"

    @pytest.mark.parametrize(
        ("key", "incident", "fixed", "shown"),
        [
            ("spark.x.y", LOGGED, OTHER, (True, "7 (incident), not set (fixed), as the program logged")),
            ("spark.x.y", OTHER, OTHER, (False, "incident ran with not set, which is not what it was given")),
            ("spark.x.y", LOGGED, SILENT, (False, NOT_CONFIRMED)),
            ("slots", LOGGED, OTHER, (True, "2 (incident), 4 (fixed), as the program logged")),
            ("slots", LOGGED, SILENT, (False, NOT_CONFIRMED)),
        ],
    )
    def test_a_setting_of_spark_or_slots(
        self, load: Load, key: str, incident: ArmObservation, fixed: ArmObservation, shown: tuple[bool, str]
    ) -> None:
        found = self.cause(load(self.OWN), key, incident, fixed)
        assert (found.shown, found.did) == shown

    @pytest.mark.parametrize(("written", "master", "slots"), [(2, "[2,1,512]", 2), (5, "[2,3,512]", 6)])
    def test_executors_and_their_slots(self, load: Load, written: int, master: str, slots: int) -> None:
        scenario = load(f"executors: 2\n    slots: {written}")
        of_cluster = an_observation(spark={"spark.master": f"local-cluster{master}"})
        assert [self.cause(scenario, key, of_cluster, self.OTHER).did for key in ("executors", "slots")] == [
            "2 (incident), not set (fixed), as the program logged",
            f"{slots} (incident), 4 (fixed), as the program logged",
        ]

    def cause(self, scenario: Scenario, key: str, incident: ArmObservation, fixed: ArmObservation) -> CauseResult:
        caused = scenario.model_copy(update={"cause": (NamedCause(differs=key),)})
        (found,) = shown_causes(resolve(caused), {"incident": incident, "fixed": fixed})
        return found


VALUES = {"bootstrap": "127.0.0.1:9092", "arm": "fixed"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("--brokers={bootstrap}", "--brokers=127.0.0.1:9092"),
        ("mine-{arm}-{arm}", "mine-fixed-fixed"),
        ("echo ${arm}", "echo ${arm}"),
        ('{"arm": 1}', '{"arm": 1}'),
        ("{sparql_update}", "{sparql_update}"),
        ("{other}", "{other}"),
    ],
    ids=["a value", "twice", "a shell's variable", "JSON", "without a triple store", "a word of the program's own"],
)
def test_known_places_are_filled_in(text: str, filled: str) -> None:
    assert filled_where_known(text, VALUES.__getitem__) == filled


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{bootstap}", ["there is no place {bootstap} to fill in; did you mean 'bootstrap'?"]),
        ("{config}", ["there is no place {config} to fill in; there are: " + ", ".join(OF_CONFIG)]),
        ("{mock} {other} ${moc}", []),
    ],
    ids=["a typo", "a place of an operator's command", "known, and others"],
)
def test_a_misspelt_place_is_told(text: str, messages: list[str]) -> None:
    assert list(misspelt_places(text, OF_CONFIG)) == messages
