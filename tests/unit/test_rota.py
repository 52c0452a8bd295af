"""Which integration tests a change runs. What is left out is said, and what all stand on leaves nothing out."""

from collections.abc import Collection

import pytest

from tests.rota import TURNS, IntegrationFiles, Selection, integration_files

FETCH, STATE = "tests/integration/test_fetch.py", "tests/integration/test_state.py"
OTHERS = tuple(f"tests/integration/test_other_{number}.py" for number in range(30))
FILES = IntegrationFiles(
    rooms={
        FETCH: ("pipeline/fetch",),
        STATE: ("pipeline/state", "pipeline/driver"),
        **dict.fromkeys(OTHERS, ("docs",)),
    },
    support={
        FETCH: {FETCH, "tests/integration/cli_run.py"},
        STATE: {STATE, "tests/integration/removed.py"},
        **{file: {file} for file in OTHERS},
    },
)


def near(changed: Collection[str]) -> set[str]:
    """What is run in every turn."""
    return set.intersection(*(set(FILES.select(changed, turn).chosen) for turn in range(TURNS)))


@pytest.mark.parametrize(
    ("changed", "files"),
    [
        (["pipeline/fetch/client.py"], {FETCH}),
        (["pipeline/driver/query.py", "pipeline/fetch/gone.py"], {FETCH, STATE}),
        (["tests/integration/test_state.py"], {STATE}),
        (["tests/integration/cli_run.py"], {FETCH}),
        (["tests/integration/removed.py"], {STATE}),
        (["tests/unit/pipeline/fetch/conftest.py", "CHANGELOG.md", ".ci/rota.toml", "benchmarks/x.py"], set()),
        (["docs/mock.md"], set(OTHERS)),
        ([], set()),
    ],
    ids=[
        "a room",
        "two rooms",
        "a test file",
        "what a test file imports",
        "what it imported",
        "no room",
        "the docs",
        "nothing",
    ],
)
def test_a_change_runs_the_files_of_its_rooms(changed: list[str], files: set[str]) -> None:
    assert near(changed) == files


@pytest.mark.parametrize(
    "path",
    [
        "devkit/stack/embedded.py",
        "devkit/guardian/client.py",
        "pipeline/config/sink.py",
        "tests/conftest.py",
        "tests/integration/proxy/conftest.py",
        "tests/rota.py",
        "locks/all.lock",
        "justfile",
        "justw",
        "pyproject.toml",
        "pipeline/pyproject.toml",
        ".ci/run",
        "tests/integration_rooms.py",
        "tests/integration/scenarios/warm.yaml",
        "tests/integration/crash/launcher.py",
    ],
)
def test_what_all_stand_on_runs_all(path: str) -> None:
    assert FILES.select([path], 1) == Selection(
        tuple(sorted(FILES.rooms)), (), (f"all {len(FILES.rooms)} files: {path} changed, on which all stand",)
    )


def test_without_a_base_all_run() -> None:
    selection = FILES.select(None, 1)
    assert (set(selection.chosen), selection.left_out) == (set(FILES.rooms), ())


def test_three_turns_run_each_file_once() -> None:
    turns = [FILES.select([], turn).chosen for turn in (7, 8, 9)]
    assert sorted(file for chosen in turns for file in chosen) == sorted(FILES.rooms)
    assert all(turns), "one of three runs nothing"
    assert FILES.select([], 10).chosen == turns[0]


def test_what_is_not_chosen_is_left_out() -> None:
    selection = FILES.select(["pipeline/fetch/client.py"], 1)
    assert sorted((*selection.chosen, *selection.left_out)) == sorted(FILES.rooms)
    assert selection.reasons[0] == f"1 of {len(FILES.rooms)} files for the changed rooms: pipeline/fetch"


def test_the_files_of_the_checkout_are_known_with_what_they_import() -> None:
    files = integration_files()
    assert "mockapi/server" in files.rooms["tests/integration/mockapi/test_rest_api.py"]
    assert "tests/integration/cli_run.py" in files.support["tests/integration/test_survives.py"]
    assert "tests/integration/crash/bench.py" in files.support["tests/integration/test_deferral.py"]
