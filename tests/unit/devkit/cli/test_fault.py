"""`devkit fault` and `devkit edit`: what cannot be done is said before anything is changed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.faults.parts.pause import Pause
from devkit.faults.refused_fault import RefusedFaults
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG, configuration
from tests.unit.devkit.cli.conftest import Devkit, Kept
from tests.unit.devkit.debug.mock_server import ServedMock, served_mock


@pytest.fixture
def served(kept: Kept) -> Iterator[ServedMock]:
    """A kept stack with a mock that answers."""
    with served_mock() as mock:
        kept(mock_API=mock.endpoint)
        yield mock


def effective(served: ServedMock) -> list[dict[str, object]]:
    return [rule.model_dump(mode="json", exclude_defaults=True, by_alias=True) for rule in served.worlds.current.rules]


def test_options_make_a_fault_and_its_end_is_printed(devkit: Devkit, served: ServedMock) -> None:
    finished = devkit("fault", "add", "--status", "504", "--share", "5%")
    assert (finished.code, finished.out) == (0, "stack cafe0001: status-504 is effective\n")
    assert "`devkit fault remove status-504` ends it" in finished.err
    assert effective(served) == [{"name": "status-504", "when": {"share": 0.05}, "do": {"status": {"code": 504}}}]
    assert devkit("fault", "remove", "status-504").out == "stack cafe0001: status-504 is removed\n"
    assert effective(served) == []


def test_every_option(devkit: Devkit, served: ServedMock) -> None:
    when = ("--share", "0.5", "--page", "Main Page")
    finished = devkit("fault", "add", *when, "--latency", "2s", "--name", "x", "--for", "30s", "--status", "503")
    assert finished.code == 0, finished.err
    assert effective(served) == [
        {
            "name": "x",
            "when": {"page": "Main Page", "share": 0.5},
            "do": {"latency": {"fixed": "2s"}, "status": {"code": 503}},
            "ttl": "30s",
        }
    ]


def test_yaml_with_a_name_and_options_that_narrow_it(devkit: Devkit, served: ServedMock) -> None:
    assert devkit("fault", "add", "name: a b, do: {status: 504}", "--page", "Main Page").code == 0
    assert effective(served) == [{"name": "a b", "when": {"page": "Main Page"}, "do": {"status": {"code": 504}}}]


def test_the_line_that_removes_it_can_be_pasted(devkit: Devkit, served: ServedMock) -> None:
    finished = devkit("fault", "add", "name: a b, do: {status: 504}", "--run-id", "cafe0001")
    assert "`devkit fault remove 'a b' --run-id cafe0001`" in finished.err
    assert "verdict" not in finished.err


def test_what_it_does_to_a_running_scenario_is_said(devkit: Devkit, served: ServedMock, kept: Kept) -> None:
    kept(mock_API=served.endpoint).model_copy(update={"released": False}).save()
    finished = devkit("fault", "add", "--status", "503")
    assert finished.code == 0
    assert "its verdict is now inconclusive" in finished.err
    assert "until the arm ends" in finished.err


def test_a_file_of_faults(devkit: Devkit, served: ServedMock, here: Path) -> None:
    (here / "f.yaml").write_text("- {name: a, do: {status: 504}}\n- {name: b, do: {latency: 1s}}\n")
    assert devkit("fault", "add", "f.yaml").code == 0
    assert [rule["name"] for rule in effective(served)] == ["a", "b"]
    assert devkit("fault", "remove", "--all").out.count("is removed") == 2
    assert devkit("fault", "remove", "--all").out == "stack cafe0001: there was no fault\n"


class TestList:
    def test_how_often_each_was_met(self, devkit: Devkit, served: ServedMock) -> None:
        assert devkit("fault", "list").out == "stack cafe0001: 0 faults\n"
        devkit("fault", "add", "--status", "504")
        devkit("fault", "add", "--latency", "1ms", "--page", "No such page")
        served.fetch(1)
        lines = devkit("fault", "list").out.splitlines()
        assert lines[0] == "stack cafe0001: 2 faults"
        assert lines[1].startswith("  status-504: matched 1 request (504: 1), the last ")
        assert lines[2] == "      when any request, do status: {code: 504}"
        assert lines[3] == "  latency-1ms: matched no request yet"
        assert lines[4] == "      when page: No such page, do latency: {fixed: 1ms}"
        (fault, _) = json.loads(devkit("fault", "list", "--json").out)
        assert (fault["name"], fault["counts"]["requests"]) == ("status-504", 1)

    def test_one_that_was_refused_is_there_until_it_is_removed(
        self, devkit: Devkit, served: ServedMock, kept: Kept, tmp_path: Path
    ) -> None:
        run = kept(mock_API=served.endpoint).model_copy(update={"directory": tmp_path})
        run.save()
        RefusedFaults(run.directory).note("later", Pause(part="kafka"), "it could not begin: it is gone")
        listed = devkit("fault", "list").out
        assert "later: refused at " in listed
        assert ": it could not begin: it is gone\n      do pause: {part: kafka}\n" in listed
        (as_json,) = json.loads(devkit("fault", "list", "--json").out)
        assert (as_json["name"], as_json["why"]) == ("later", "it could not begin: it is gone")
        assert devkit("fault", "remove", "later").code == 0
        assert "0 faults" in devkit("fault", "list").out


class TestRefused:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("add",), "no fault is given"),
            (("add", "--share", "5%"), "--share says for which requests"),
            (("add", "--status", "999"), "do.status.code: must be less than or equal to 599"),
            (("add", "--status", "504", "--share", "5"), "when.share: more than the whole"),
            (("add", "[{do: {status: 504}}, {do: {status: 503}}]", "--name", "x"), "--name x for 2 faults"),
            (("remove", "x", "--all"), "names and --all"),
            (("remove", "x"), "name: no rule 'x'"),
            (("list", "--run-id", "beef"), "there is no stack beef"),
        ],
    )
    def test_it_is_wrong_usage(
        self, devkit: Devkit, served: ServedMock, arguments: tuple[str, ...], message: str
    ) -> None:
        finished = devkit("fault", *arguments)
        assert finished.code == 2
        assert f"error: {message}" in finished.err
        assert effective(served) == []

    def test_without_a_stack(self, devkit: Devkit) -> None:
        finished = devkit("fault", "list")
        assert (finished.code, finished.err.splitlines()[0]) == (2, "error: no stack is up")

    def test_a_stack_without_a_mock(self, devkit: Devkit, kept: Kept) -> None:
        kept(kafka="127.0.0.1:1")
        assert devkit("fault", "list").code == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{pause: 2020-13-45}", "'2020-13-45' cannot be read: month must be in 1..12"),
        ("!!int x", "'x' cannot be read"),
        ('{pause: {part: "\\ud800"}}', "surrogates not allowed"),
        pytest.param("{a: " * 3000, "nested too deeply", id="{a: {a: …"),
        ("{a", "not YAML"),
        ("[a]", "a mapping is wanted"),
        ("{pausee: {part: kafka}}", "do.pausee: no fault on a part has this name\nhint: did you mean 'pause'?"),
    ],
)
def test_what_cannot_be_read_is_said(devkit: Devkit, served: ServedMock, text: str, message: str) -> None:
    finished = devkit("fault", "add", "--do", text)
    assert (finished.code, message in finished.err, "Traceback" in finished.err) == (2, True, False)
    assert effective(served) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [("pauze", "did you mean 'pause'?"), ("statsu", "did you mean 'status'?"), ("zzz", "`devkit faults` lists all")],
)
def test_a_name_that_is_no_faults(devkit: Devkit, name: str, hint: str) -> None:
    finished = devkit("faults", name)
    message = f"error: there is no fault '{name}', neither on a part nor of the mock\nhint: {hint}\n"
    assert (finished.code, finished.out, finished.err) == (2, "", message)


def test_one_by_its_name(devkit: Devkit) -> None:
    finished = devkit("faults", "pause")
    assert (finished.code, finished.out.split()[0]) == (0, "pause")


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
