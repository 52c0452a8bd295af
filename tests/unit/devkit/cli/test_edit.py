"""`devkit edit` where no event could come of it: it says why before the wiki is changed."""

from pathlib import Path

import pytest

from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG, configuration
from tests.unit.devkit.cli.conftest import Devkit, Kept


def test_without_a_stack_there_is_no_page(devkit: Devkit) -> None:
    finished = devkit("edit", "Main Page")
    assert finished.code == 2
    assert "no stack is up" in finished.err
    assert "`devkit up` starts one" in finished.err


def test_a_stack_without_an_event_bus_is_refused(devkit: Devkit, kept: Kept) -> None:
    kept(kafka="127.0.0.1:1", mock_API="http://127.0.0.1:1")
    finished = devkit("edit", "Main Page")
    assert finished.code == 2
    assert "has no event bus, which makes events of edits\nhint: `devkit up` starts one" in finished.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--move", "B", "--delete"), "--move and --delete are several changes\nhint: make one after the other"),
        (("--bytes", "2GiB"), "the mock makes HTML of at most 1 GiB\nhint: give a smaller size"),
        (("--bytes", "big"), "--bytes: "),
        (("--label", "en"), "--label en: it has no `=`\nhint: write --label LANGUAGE=TEXT"),
    ],
)
def test_what_cannot_be_done_is_refused_before_all_else(devkit: Devkit, options: tuple[str, ...], message: str) -> None:
    finished = devkit("edit", "Main Page", *options)
    assert (finished.code, message in finished.err) == (2, True)


@pytest.mark.parametrize(
    ("job", "options", "message"),
    [
        ("html-enrichment", ("--label", "en=Tea"), "--label is for entities, and the stack runs html-enrichment"),
        ("html-enrichment", ("--merge-into", "Q5"), "--merge-into is for entities"),
        ("rdf-resolve", ("--text", "x"), "--text is for pages, and Q42 is to be an entity"),
        ("rdf-resolve", ("--move", "B"), "--move is for pages"),
        ("rdf-resolve", ("--hide",), "--hide is for pages"),
        ("rdf-resolve", ("--label", "en=Tea", "--suppress"), "--suppress is for a deletion"),
        ("rdf-resolve", (), "Q42: no change is given\nhint: --label, "),
        ("rdf-resolve", ("--label", "en=Tea", "--delete"), "--label and --delete are several changes"),
    ],
)
def test_what_the_stack_has_nothing_for_is_refused(
    devkit: Devkit, kept: Kept, here: Path, job: str, options: tuple[str, ...], message: str
) -> None:
    (here / "pipeline.yaml").write_bytes(CONFIG.dump_json(configuration(NOWHERE, {}, job), by_alias=True))
    kept(kafka="127.0.0.1:1", mock_API="http://127.0.0.1:1", event_bus="http://127.0.0.1:1", logs=str(here))
    finished = devkit("edit", "Q42", *options)
    assert (finished.code, message in finished.err) == (2, True), finished.err
