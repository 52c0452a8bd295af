"""The plugin in another project's suite, with the stack and the playing of scenarios replaced: no part is started."""

from collections.abc import Callable
from pathlib import Path

import pytest

# Each run of pytest forgets the modules that it has loaded; these it finds here.
import devkit.play.run
import devkit.report.verdict_lines
import devkit.scenario.load  # noqa: F401

SCENARIO = (Path(__file__).parents[1] / "scenario" / "incident.yaml").read_text()

# Stands in for what takes a minute: a verdict, or the harness's error.
CONFTEST = """
from types import SimpleNamespace
import pytest
from devkit.errors import StackError
from devkit.play import run
from devkit.report import verdict_lines

CODE = {code!r}

def play(scenario, options, progress, *, on_keep):
    print("played", scenario.name, options.stack, options.out, options.request.addresses, options.stretch)
    progress.line("stack", "what was said on the way")
    if CODE == "error":
        raise StackError("kafka ended by signal 9", hint="look at its log")
    return SimpleNamespace(result=SimpleNamespace(exit_code=CODE), directory=options.out)

patch = pytest.MonkeyPatch()

def pytest_configure():
    lines = ["an-incident: THE VERDICT", "  no   restarts: expected 0"]
    patch.setattr(run, "run_scenario", play)
    patch.setattr(verdict_lines, "verdict_lines", lambda result, directory: lines)

def pytest_unconfigure():
    patch.undo()
"""

Suite = Callable[..., pytest.RunResult]


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that happen to be installed take time, and ask git and hg about the suite."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    directory = pytester.mkdir("scenarios")
    (directory / "an-incident.yaml").write_text(SCENARIO)

    def run(*arguments: str, code: int | str = 0) -> pytest.RunResult:
        pytester.makeconftest(CONFTEST.format(code=code))
        return pytester.runpytest_inprocess("-p", "devkit.pytest", "-p", "no:cacheprovider", *arguments)

    return run


@pytest.mark.parametrize(
    ("code", "outcome", "lines"),
    [
        (0, "passed", ["scenarios/an-incident.yaml::an-incident PASSED*"]),
        (1, "failed", ["an-incident: THE VERDICT", "  no   restarts: expected 0"]),
        (3, "errors", ["an-incident: THE VERDICT"]),
        ("error", "errors", ["error: kafka ended by signal 9; hint: look at its log"]),
        ("error", "errors", ["*what was said on the way*"]),
    ],
    ids=["passes", "refuted", "inconclusive", "a harness that fails", "what was said before that"],
)
def test_a_scenario_is_a_test(suite: Suite, code: int | str, outcome: str, lines: list[str]) -> None:
    result = suite("-v", "scenarios/", code=code)
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(lines)
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_invalid_file_is_an_error_of_collection(suite: Suite, pytester: pytest.Pytester) -> None:
    (pytester.path / "scenarios" / "broken.yaml").write_text("name: broken\n")
    result = suite("scenarios/")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*broken.yaml:1:1: *"])


def test_options_reach_the_run(suite: Suite, pytester: pytest.Pytester) -> None:
    addresses = pytester.path / "a.yaml"
    result = suite(
        *("-s", "--stack", "external", "--devkit-addresses", str(addresses), "--devkit-runs", "out"),
        *("--devkit-stretch", "3", "scenarios"),
    )
    result.stdout.fnmatch_lines([f"*played an-incident external out {addresses} 3*"])


def test_without_a_stretch_the_machine_chooses_it(suite: Suite) -> None:
    suite("-s", "scenarios").stdout.fnmatch_lines(["*played an-incident embedded runs None None*"])


def test_a_stretch_that_is_none(suite: Suite) -> None:
    result = suite("--devkit-stretch", "0", "scenarios")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_options_that_do_not_fit_together(suite: Suite) -> None:
    result = suite("--devkit-addresses", "a.yaml", "scenarios")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*--addresses is for a stack that is there already*"])


def test_an_unknown_stack(suite: Suite) -> None:
    result = suite("--devkit-stack", "cloud", "scenarios")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid choice: 'cloud'*"])


def test_another_yaml_file_is_none_of_its_business(suite: Suite, pytester: pytest.Pytester) -> None:
    (pytester.path / "other.yaml").write_text("name: other\n")
    suite(".").assert_outcomes(passed=1)


def test_other_places_can_be_named(suite: Suite, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndevkit_scenarios = incidents/*.yaml")
    (pytester.path / "scenarios").rename(pytester.path / "incidents")
    suite(".").assert_outcomes(passed=1)


@pytest.mark.parametrize("place", ["plugin", "conftest"])
def test_a_stack_option_of_another_is_left_to_it(suite: Suite, pytester: pytest.Pytester, place: str) -> None:
    theirs = "def pytest_addoption(parser):\n    parser.addoption('--stack', default='x')\n"
    theirs += "def pytest_report_header(config):\n    return f'theirs is {config.getoption(\"stack\")}'\n"
    if place == "conftest":
        (pytester.path / "scenarios" / "conftest.py").write_text(theirs)
    else:
        pytester.makepyfile(theirs=theirs)
        pytester.syspathinsert()
    named = ("-p", "theirs") if place == "plugin" else ()
    result = suite(*named, "--stack", "y", "--devkit-stack", "embedded", "scenarios")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["theirs is y"])


def test_parts_are_fixtures(suite: Suite, pytester: pytest.Pytester) -> None:
    result = suite("--fixtures", "-q")
    session = ("kafka", "object_store", "session_mock_api", "stack")
    result.stdout.fnmatch_lines_random(
        [f"{name} [[]session scope[]]*" for name in session] + ["mock_api -- *", "scenario -- *"]
    )


@pytest.mark.parametrize("first", ["devkit.pytest", "mockapi.pytest"])
def test_with_the_plugin_of_the_mock_the_fixtures_are_those_of_the_stack(pytester: pytest.Pytester, first: str) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def stack():
            class Mock:
                def reset(self):
                    self.was_reset = True

            class Stack:
                mock_api = Mock()

            return Stack()

        def test_it_is_the_stacks(stack, mock_api):
            assert mock_api is stack.mock_api
            assert mock_api.was_reset
        """
    )
    second = ({"devkit.pytest", "mockapi.pytest"} - {first}).pop()
    result = pytester.runpytest_inprocess("-p", first, "-p", second, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


PLAYS = """
def test_it_holds(scenario):
    played = scenario("an-incident")
    assert played.exit_code == 0, played.verdict
    print("evidence in", played.directory)
"""


@pytest.mark.parametrize(
    ("code", "outcome", "lines"),
    [
        (0, "passed", ["*played an-incident embedded runs None None*", "*evidence in runs*"]),
        (1, "failed", ["*an-incident: THE VERDICT*", "*what was said on the way*"]),
        ("error", "failed", ["*kafka ended by signal 9*", "*what was said on the way*"]),
    ],
    ids=["passes", "refuted", "a harness that fails"],
)
def test_a_test_plays_a_scenario(
    suite: Suite, pytester: pytest.Pytester, code: int | str, outcome: str, lines: list[str]
) -> None:
    pytester.makepyfile(PLAYS)
    result = suite("-s", "test_a_test_plays_a_scenario.py", code=code)
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(lines)
