import os
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from devkit.cli.main import cli
from devkit.errors import DevkitError, InvalidFileError, Problem, SetupError, StackError, UsageError, WaitTimeoutError
from pipeline.__main__ import main as pipeline
from tests.unit.devkit.cli.conftest import Devkit

EndsWith = Callable[[Callable[[], object]], None]


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help(devkit: Devkit, path: tuple[str, ...], flag: str) -> None:
    shown = devkit(*path, flag)
    assert shown.code == 0
    assert shown.out.startswith("Usage: devkit")
    # A sentence of its own, not only the options.
    assert len(shown.out.split("Options:")[0].split("\n\n")[1].strip()) > 10


@pytest.mark.parametrize("group", [cli, pipeline], ids=["devkit", "pipeline"])
def test_no_line_of_a_list_of_commands_is_cut_off(group: click.Group) -> None:
    # Shown through the root, as a user does: click keeps the first `--help` that a command makes, and one made in a
    # context of its own would lack `-h` for every test that follows.
    groups: list[tuple[str, ...]] = [()]
    while groups:
        path = groups.pop()
        shown = CliRunner().invoke(group, [*path, "--help"], terminal_width=80).stdout.partition("Commands:\n")[2]
        assert shown
        assert "..." not in shown, shown
        groups += [(*path, name) for name in _groups_below(group, path)]


def _groups_below(group: click.Group, path: tuple[str, ...]) -> list[str]:
    for name in path:
        below = group.get_command(click.Context(group), name)
        assert isinstance(below, click.Group)
        group = below
    context = click.Context(group)
    return [name for name in group.list_commands(context) if isinstance(group.get_command(context, name), click.Group)]


def test_which_stack_is_said_in_the_same_way_everywhere() -> None:
    options: dict[str, click.Parameter] = {}
    for path in commands():
        command: click.Command = cli
        for name in path:
            assert isinstance(command, click.Group)
            command = command.commands[name]
        for parameter in command.params:
            if parameter.name == "run_id":
                options[" ".join(path)] = parameter
    assert options.keys() >= {"down", "logs", "resume", "fault add", "topics", "tail", "lag", "traffic"}
    assert {type(one) for one in options.values()} == {click.Option}
    facts = {name: one.to_info_dict() for name, one in options.items()}
    assert {str(one["opts"]) for one in facts.values()} == {"['--run-id']"}
    help_texts = {one["help"] for one in facts.values()}
    assert len(help_texts) == 1
    assert help_texts.pop().endswith("Default: the only one of this checkout.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dance"], "No such command 'dance'"),
        (["check", "x.yaml"], "No such command 'check'. Did you mean `devkit scenario check`?"),
        (["run", "x.yaml"], "No such command 'run'. Did you mean `devkit scenario run`?"),
        (["scenarios"], "No such command 'scenarios'. Did you mean `devkit scenario list`?"),
        (["docter"], "No such command 'docter'. Did you mean `devkit doctor`?"),
        (["--dance"], "No such option"),
        (["scenario", "run", "x", "--seed", "-1"], "-1 is not in the range"),
        (["up", "--kafka-port", "0"], "0 is not in the range"),
        (["clean", "--keep", "-1"], "-1 is not in the range"),
    ],
)
def test_an_error_of_usage_exits_with_2(devkit: Devkit, arguments: list[str], message: str) -> None:
    finished = devkit(*arguments)
    assert finished.code == 2
    assert message in finished.err
    assert finished.out == ""


@pytest.mark.parametrize("arguments", [[], ["scenario"]])
def test_without_a_command_the_commands_are_shown(devkit: Devkit, arguments: list[str]) -> None:
    finished = devkit(*arguments)
    assert finished.code == 2
    assert "Commands:" in finished.out + finished.err


@pytest.fixture
def ends_with(monkeypatch: pytest.MonkeyPatch) -> EndsWith:
    """Give the kit a command `boom` that does this."""

    def give(action: Callable[[], object]) -> None:
        monkeypatch.setitem(cli.commands, "boom", click.Command("boom", callback=action))

    return give


def raising(error: BaseException) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "printed"),
    [
        (DevkitError("no room", hint="make some"), 3, "error: no room; hint: make some\n"),
        (UsageError("no such name"), 2, "error: no such name\n"),
        (InvalidFileError(Path("a.yaml"), [Problem(3, 1, "x: is missing")]), 2, "error: a.yaml:3:1: x: is missing\n"),
        (SetupError("no jars"), 3, "error: no jars; hint: `devkit doctor` checks this machine\n"),
        (StackError("kafka ended"), 3, "error: kafka ended; hint: `devkit doctor` checks this machine\n"),
        (WaitTimeoutError("in vain"), 3, "error: in vain; hint: `devkit doctor` checks this machine\n"),
        (OSError(5, "Input/output error"), 3, "error: [Errno 5] Input/output error\n"),
        (
            OSError(28, "No space left on device"),
            3,
            "error: [Errno 28] No space left on device; hint: free some space; `devkit clean` removes old runs\n",
        ),
        (KeyboardInterrupt(), 130, "\ninterrupted; nothing is left running\n"),
        (click.Abort(), 130, "interrupted; nothing is left running\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_person_can_mend_is_said_without_a_traceback(
    devkit: Devkit, ends_with: EndsWith, error: BaseException, code: int, printed: str
) -> None:
    ends_with(raising(error))
    finished = devkit("boom")
    assert (finished.code, finished.err) == (code, printed)


def test_what_is_set_up_for_aws_does_not_reach_a_run(
    devkit: Devkit, ends_with: EndsWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://elsewhere")
    monkeypatch.setenv("AWS_PROFILE", "production")
    ends_with(lambda: click.echo(sorted(name for name in os.environ if name.startswith("AWS"))))
    assert devkit("boom").out == "[]\n"


def test_a_defect_of_the_kit_keeps_its_traceback_and_is_no_verdict(devkit: Devkit, ends_with: EndsWith) -> None:
    """Python would exit with 1, which says that a scenario was refuted."""
    ends_with(raising(ZeroDivisionError("a defect")))
    finished = devkit("boom")
    assert finished.code == 3
    assert "Traceback" in finished.err
    assert "ZeroDivisionError: a defect" in finished.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_command_ends_in_order(devkit: Devkit, ends_with: EndsWith, number: int) -> None:
    cleaned: list[bool] = []

    def action() -> None:
        try:
            os.kill(os.getpid(), number)
        finally:
            cleaned.append(True)

    ends_with(action)
    assert devkit("boom").code == 130
    assert cleaned == [True]


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_of_a_command_is_that_of_the_kit(devkit: Devkit, ends_with: EndsWith, code: int) -> None:
    ends_with(lambda: sys.exit(code))
    assert devkit("boom").code == code


def test_its_version(devkit: Devkit) -> None:
    shown = devkit("--version")
    assert (shown.code, shown.out) == (0, f"devkit {version('enrichment-devkit')}\n")
