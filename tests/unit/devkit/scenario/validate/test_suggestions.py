"""A key that another section knows is said to belong there, unless that is said of too many."""

from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario
from devkit.scenario.validate.suggestions import belongs
from tests.unit.devkit.conftest import Edited

# What is changed in the file, and all that is said of it.
WRONG = {
    "a key at the top that is one of a section": (
        ("time_scale: 60", "brokers: 3"),
        ["5:1: brokers: unknown key; it belongs under `kafka`"],
    ),
    "a key at the top that is one of the pipeline's": (
        ("time_scale: 60", "deferral: { policy: none }"),
        ["5:1: deferral: unknown key; it belongs under `pipeline`, or of one arm under `arms`"],
    ),
    "a key of the top in a section": (
        ("until:\n", "until:\n  time_scale: 3\n"),
        ["28:3: until.time_scale: unknown key; it belongs at the top of the file"],
    ),
    "a key of the top in the pipeline's section": (
        ("pipeline:\n", "pipeline:\n  margin: 3\n"),
        ["24:3: pipeline.margin: unknown key; it belongs at the top of the file"],
    ),
    "an expectation as a condition": (
        ("{ replays: 2 }", "{ audit: clean }"),
        ["28:30: until.any[1].audit: unknown key; it belongs under `expect.incident` or `expect.fixed`"],
    ),
    "a fault on a part in a rule of the mock": (
        ("do: { body:", "do: { pause: { part: kafka }, body:"),
        [
            "18:13: mock.rules[0].do.pause: unknown key; 'pause' is a fault on a part; it belongs into `do` under "
            "`timeline`, with `at` or `when`"
        ],
    ),
    "a space that is missing behind a colon": (
        ("{ page: Huge }", "{page:Huge}"),
        ["17:14: mock.rules[0].when.page:Huge: unknown key; write a space behind the colon: `page: Huge`"],
    ),
}


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


@pytest.mark.parametrize(("change", "message"), [pytest.param(*case, id=name) for name, case in WRONG.items()])
def test_it_is_said_with_its_place(tmp_path: Path, edited: Edited, change: tuple[str, str], message: list[str]) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(edited(change))
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(path)
    assert str(caught.value).splitlines() == [f"{path}:{line}" for line in message]
