"""A unit test that starts a process fails, and says which: the plugin of tests/conftest.py, with pytest in process."""

from collections.abc import Callable

import pytest

STARTS = {
    "subprocess": "subprocess.run(['true', 'a b'])",
    "posix_spawn": "os.waitpid(os.posix_spawn('/bin/true', ['true', 'a b'], {}), 0)",
    "system": "os.system(\"true 'a b'\")",
    "multiprocessing": "os.waitpid(util.spawnv_passfds(b'/bin/true', [b'true', b'a b'], []), 0)",
}
FORK = "child = os.fork()\n    if child == 0:\n        os._exit(0)\n    os.waitpid(child, 0)"
IMPORTS = "import os, subprocess\nfrom multiprocessing import util\nimport pytest\n"
TEST, FIXTURE = "def test_it({}):\n    {}\n", "@pytest.fixture{}\ndef started():\n    {}\n"
STARTED = "tests/unit/test_it.py::test_it started a process: {}"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a file of tests with this plugin and no other that is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("from tests.conftest import pytest_configure\n")
    pytester.makeini("[pytest]\nmarkers =\n    starts_process(reason): a mark\n")

    def run(*parts: str, directory: str = "tests/unit") -> pytest.RunResult:
        path = pytester.path / directory / "test_it.py"
        path.parent.mkdir(parents=True)
        path.write_text(IMPORTS + "".join(parts))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--import-mode=importlib")

    return run


@pytest.mark.parametrize("line", STARTS.values(), ids=STARTS)
def test_the_failure_names_the_command_and_what_to_do(run: Run, line: str) -> None:
    result = run(TEST.format("", line))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([STARTED.format("true 'a b'"), "hint: run the code in process*"])


def test_a_fork_counts(run: Run) -> None:
    result = run(TEST.format("", FORK))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([STARTED.format("os.fork")])


def test_an_exception_of_the_tests_own_is_shown_too(run: Run) -> None:
    result = run(TEST.format("", f"{STARTS['subprocess']}; assert 'this' == 'that'"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 'this' == 'that'*", f"*{STARTED.format('true *')}"])


@pytest.mark.parametrize("when", ["{}", "yield; {}"], ids=["set-up", "tear-down"])
@pytest.mark.parametrize("scope", ["", "(scope='module')"])
def test_a_fixture_counts_for_the_test_that_sets_it_up(run: Run, when: str, scope: str) -> None:
    result = run(FIXTURE.format(scope, when.format(STARTS["subprocess"])), TEST.format("started", "pass"))
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.fnmatch_lines([STARTED.format("true 'a b'")])


def test_a_mark_with_a_reason_allows_it(run: Run) -> None:
    run("@pytest.mark.starts_process('true is cheap')\n", TEST.format("", STARTS["subprocess"])).assert_outcomes(
        passed=1
    )


def test_a_mark_without_a_reason_does_not(run: Run) -> None:
    result = run("@pytest.mark.starts_process\n", TEST.format("", STARTS["subprocess"]))
    result.stdout.fnmatch_lines(["tests/unit/test_it.py::test_it: the mark starts_process has no reason"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_other_tests_start_what_they_need(run: Run) -> None:
    run(TEST.format("", STARTS["subprocess"]), directory="tests/integration").assert_outcomes(passed=1)


def test_a_test_that_starts_none_passes(run: Run) -> None:
    run(TEST.format("", "pass")).assert_outcomes(passed=1)
