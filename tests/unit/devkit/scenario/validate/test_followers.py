"""`run: apply` beside programs whose topic, base or graph does not fit."""

from pathlib import Path

import pytest
import yaml

from devkit.errors import InvalidFileError
from devkit.programs.places import NOWHERE
from devkit.scenario.load import load_scenario
from devkit.scenario.placeholders import filled, placeholder_value
from devkit.scenario.resolve import resolve

SHIPPED = Path("scenarios/shared-unlinked.yaml").read_text(encoding="utf-8")
RESOLVE, APPLY = "resolve: { run: pipeline rdf-resolve }", "apply: { run: apply }"


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
