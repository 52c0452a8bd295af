"""Refusals that depend on more than the text of a file: of those alone the golden files have the exact words."""

from pathlib import Path

import pytest
import yaml

from devkit.errors import InvalidFileError
from devkit.programs.command.program import CommandKind
from devkit.programs.places import NOWHERE
from devkit.scenario.load import load_scenario
from devkit.scenario.placeholders import filled, placeholder_value
from devkit.scenario.resolve import resolve
from devkit.scenario.validate.suggestions import belongs
from pipeline.jobs.names import JOB_DEFAULTS, JobDefaults
from tests.unit.devkit.conftest import Edited, Load

REPOSITORY = Path(__file__).parents[5]
Change = tuple[str, str]
IN_FIXED = "    record_limit: { policy: serialized }"
IN_CONTAINER = ("kafka:\n", "container: { memory: 2GiB }\nkafka:\n")
OWN = ("kafka:\n", "programs: { mine: { run: 'command sh -c true', environment: { MODE: right } } }\nkafka:\n")
SHIPPED = Path("scenarios/shared-unlinked.yaml").read_text(encoding="utf-8")
RESOLVE, APPLY = "resolve: { run: pipeline rdf-resolve }", "apply: { run: apply }"


def spark(setting: str, more: str = "slots: 3") -> Change:
    return IN_FIXED, f"{IN_FIXED}\n    {more}\n    spark: {{ {setting} }}"


WRONG: dict[str, tuple[list[Change], str]] = {
    "a misspelt setting of Spark": (
        [spark("spark.driver.memoy: 3g")],
        "arms.fixed.spark.spark.driver.memoy: unknown to Spark, which would ignore it; did you mean "
        "'spark.driver.memory'?",
    ),
    "executors that their container does not hold": (
        [spark("spark.executor.memory: 1g", "executors: 3"), IN_CONTAINER],
        "arms.fixed.spark.spark.executor.memory: 3 executors take 3GiB, and the container has 2GiB",
    ),
    "a misspelt type of error": (
        [("Huge: { edits: 1,", "Huge: { edits: 1, error: { fixed: revision_not_fuond },")],
        "traffic.pages.Huge.error.fixed: the pipeline has no error type 'revision_not_fuond'; did you mean",
    ),
    "a grace where events have times of their own": (
        [
            (IN_FIXED, f"{IN_FIXED}\n    fetch: {{ not_found_grace: 20s }}"),
            ("  seed: 7", "  seed: 7\n  event_times: { published: x1 }"),
        ],
        "arms.fixed.fetch.not_found_grace: no event is young enough for it: events say that they were received on 2026",
    ),
    "a grace of a program beside the main one": (
        [
            (
                "kafka:\n",
                "programs: { html: { run: pipeline }, also: { run: pipeline rdf-resolve, "
                "configuration: { fetch: { not_found_grace: 20s } } } }\nkafka:\n",
            )
        ],
        "programs.also.configuration.fetch.not_found_grace: no event is young enough for it",
    ),
    "a cause that all arms have alike": (
        [OWN, ("arms:\n", "cause: [{ differs: programs.mine.environment.MODE }]\narms:\n")],
        "cause[0].differs: programs.mine.environment.MODE is the same in all arms, so it is no cause",
    ),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_refused_unless_it_is_played_unchecked(
    edited: Edited, tmp_path: Path, changes: list[Change], message: str
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(edited(*changes))
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(file)
    assert all(str(file) in line for line in str(caught.value).splitlines())
    assert message in str(caught.value)
    assert caught.value.hint == "`devkit scenario run --unchecked` plays it all the same"
    assert load_scenario(file, unchecked=True).name == "an-incident"


def test_a_program_in_place_of_the_pipeline_may_log_what_it_likes(edited: Edited, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(edited(("- drained: true", "- log: { event: zzz, at_most: 0 }")))
    assert load_scenario(file, instead=CommandKind().program("sh -c true")).name == "an-incident"


def test_a_job_without_a_truth_is_not_audited(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = JobDefaults(output_topic="o", error_topic="e", deferred_topic="d", claim_prefix="p")
    monkeypatch.setitem(JOB_DEFAULTS._by_name, "no-truth", defaults)
    refused = "audit: the main program is not audited, as no truth is registered for its job"
    with pytest.raises(InvalidFileError, match=refused) as caught:
        load(("  batch: { max_offsets: 50 }", "  batch: { max_offsets: 50 }\n  job: no-truth"))
    assert len(str(caught.value).splitlines()) == 1


def test_a_dump_that_no_store_is_loaded_with(tmp_path: Path) -> None:
    shipped = (REPOSITORY / "scenarios" / "gap-after-bootstrap.yaml").read_text()
    file = tmp_path / "s.yaml"
    file.write_text(shipped.replace("  apply: { run: apply }\n", ""))
    with pytest.raises(InvalidFileError, match=r"traffic\.dump: there is no triple store in arm incident"):
        load_scenario(file)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (("deadline",), "it belongs under `until` or `pipeline.fetch` or `pipeline.deferral.slow_lane`"),
        (("traffic", "expect"), "it belongs at the top of the file"),
        (("restarts",), "it belongs under `until.any[]` or `expect.incident` or `expect.fixed`"),
        (("traffic", "of"), None),
        (("zzz",), None),
        (
            ("arms", "incident", "kafka"),
            "what the pipeline asks of Kafka is under `source` and `sink` here, brokers under `kafka` at the top",
        ),
        (("faults",), "did you mean `timeline` (faults on parts) or `mock.rules` (faults of the wiki)?"),
        (("until", "drained"), "write any: [{ drained: true }]"),
        (("until", "restarts"), "write any: [{ restarts: … }]"),
    ],
)
def test_where_it_belongs(location: tuple[str, ...], message: str | None) -> None:
    assert belongs(location) == message


def load(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = SHIPPED
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after, 1)
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def configured(program: str, settings: str) -> tuple[str, str]:
    return program, f"{program[:-2]}, configuration: {settings} }}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [configured(RESOLVE, "{ sink: { topic: elsewhere } }")],
            "to 'rdf-streaming-updater.mutation', which it reads; write source.topic: elsewhere",
        ),
        (
            [configured(APPLY, "{ apply: { concept_base: 'http://other.example' } }")],
            "whose rdf.concept_base is http://www.wikidata.org; write http://www.wikidata.org here",
        ),
        (
            [(APPLY, f"{APPLY}\n  second: {{ run: apply, configuration: {{ apply: {{ graph: 'urn:a' }} }} }}")],
            "program apply writes to another graph",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changes: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(load(tmp_path, *changes))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [
            configured(RESOLVE, "{ sink: { topic: elsewhere } }"),
            configured(APPLY, "{ source: { topic: elsewhere } }"),
        ],
        [
            configured(RESOLVE, "{ rdf: { concept_base: 'http://other.example' } }"),
            configured(APPLY, "{ apply: { concept_base: 'http://other.example/' } }"),
        ],
    ],
)
def test_what_fits_is_taken(tmp_path: Path, changes: list[tuple[str, str]]) -> None:
    load_scenario(load(tmp_path, *changes))


def test_a_raw_configuration_has_the_triple_stores_addresses(tmp_path: Path) -> None:
    raw = "raw_config: { text: \"apply: { endpoint: '{sparql_update}', query_endpoint: '{sparql_query}' }\" }"
    path = load(tmp_path, (APPLY, f"apply: {{ run: apply, {raw} }}"))
    program = resolve(load_scenario(path)).arms["fixed"].programs["apply"]
    assert program.launch.raw_config is not None
    (text,) = filled(
        [program.launch.raw_config.text],
        lambda place: placeholder_value(place, "fixed", NOWHERE, program.configured.topics),
    )
    assert NOWHERE.triple_store is not None
    assert yaml.safe_load(text)["apply"] == {
        "endpoint": NOWHERE.triple_store.update,
        "query_endpoint": NOWHERE.triple_store.query,
    }
