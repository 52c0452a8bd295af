from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devkit.cli.exit_codes import ExitCodes
from devkit.errors import StackError
from devkit.play import run as run_module
from devkit.play.run import FinishedRun
from tests.unit.devkit.cli.conftest import Devkit
from tests.unit.devkit.report.conftest import a_good_result

Ends = Callable[[int | Exception | type[BaseException]], None]


@pytest.fixture
def ends(scenarios: Path, monkeypatch: pytest.MonkeyPatch) -> Ends:
    """Have runs end with an exit code, or raise."""

    def how(ending: int | Exception | type[BaseException]) -> None:
        def run_scenario(*_: Any, **__: Any) -> FinishedRun:
            if not isinstance(ending, int):
                raise ending
            return FinishedRun(a_good_result().model_copy(update={"exit_code": ending}), Path("runs/now"))

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)

    return how


@pytest.mark.parametrize(("code", "for_bisect"), [(0, 0), (1, 1), (2, 125), (3, 125), (130, 130)])
def test_git_bisect_skips_what_tells_nothing(code: int, for_bisect: int) -> None:
    assert (ExitCodes().of(code), ExitCodes(bisect=True).of(code)) == (code, for_bisect)


@pytest.mark.parametrize(
    ("ending", "code", "for_bisect"),
    [
        (0, 0, 0),
        (1, 1, 1),
        (3, 3, 125),
        (StackError("kafka ended"), 3, 125),
        (RuntimeError("a defect"), 3, 125),
        (KeyboardInterrupt, 130, 130),
    ],
)
def test_of_a_run(
    devkit: Devkit, ends: Ends, ending: int | Exception | type[BaseException], code: int, for_bisect: int
) -> None:
    ends(ending)
    assert devkit("scenario", "run", "an-incident").code == code
    assert devkit("scenario", "run", "an-incident", "--bisect").code == for_bisect


def test_what_a_commit_does_not_know_yet_or_cannot_read_is_skipped(devkit: Devkit, scenarios: Path) -> None:
    assert devkit("scenario", "run", "no-such-scenario", "--bisect").code == 125
    path = scenarios / "an-incident.yaml"
    path.write_text(path.read_text() + "a_key_of_tomorrow: 1\n")
    assert devkit("scenario", "run", "an-incident", "--bisect").code == 125


@pytest.mark.parametrize("arguments", [["--seed", "x"], ["--arm", "left"]])
def test_an_option_that_a_commit_does_not_know_yet_is_skipped(
    devkit: Devkit, scenarios: Path, arguments: list[str]
) -> None:
    assert devkit("scenario", "run", "an-incident", *arguments, "--bisect").code == 125
