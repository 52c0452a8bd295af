import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from devkit.cli.fault import fault
from devkit.cli.main import cli
from devkit.faults.journal import Journal
from devkit.faults.parts.pause import Pause
from devkit.guardian.run_state import CHECKOUT, RunState
from devkit.stack.ports import free_port
from tests.unit.devkit.cli.conftest import Devkit, Kept


@pytest.fixture
def listening() -> Iterator[int]:
    """A port that answers whatever it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):  # the end
                while True:
                    with listener.accept()[0] as connection:
                        connection.recv(100)
                        connection.sendall(b"yes")

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


class TestWithNothingUp:
    @pytest.mark.parametrize("command", ["down", "status"])
    def test_there_is_nothing_to_do(self, devkit: Devkit, command: str) -> None:
        finished = devkit(command)
        assert (finished.code, finished.out, finished.err) == (0, "no stack is up\n", "")

    @pytest.mark.parametrize("command", ["down", "logs"])
    def test_a_stack_by_its_id(self, devkit: Devkit, command: str) -> None:
        finished = devkit(command, "--run-id", "cafe0001")
        assert (finished.code, finished.err) == (
            2,
            "error: there is no stack cafe0001\nhint: stacks that are up: none\n",
        )

    def test_a_stack_whose_guardian_is_gone_is_not_up(self, devkit: Devkit, kept: Kept) -> None:
        kept(younger_s=3600)
        assert devkit("status").out == "no stack is up\n"


class TestStatus:
    def test_each_address_and_whether_it_answers(self, devkit: Devkit, kept: Kept, listening: int) -> None:
        kept(kafka=f"127.0.0.1:{listening}", mock_API=f"http://127.0.0.1:{listening}", logs="/nowhere/logs")
        finished = devkit("status")
        assert finished.code == 0
        assert finished.out == (
            "stack cafe0001 (kept)\n"
            f"  kafka          127.0.0.1:{listening}  answers\n"
            f"  mock API       http://127.0.0.1:{listening}  answers\n"
            "  logs           /nowhere/logs\n"
        )

    @pytest.mark.parametrize(("other_answers", "message"), [(True, "answers"), (False, "DOES NOT ANSWER")])
    def test_of_several_brokers_all_have_to_answer(
        self, devkit: Devkit, kept: Kept, listening: int, *, other_answers: bool, message: str
    ) -> None:
        brokers = f"127.0.0.1:{listening},127.0.0.1:{listening if other_answers else free_port()}"
        kept(kafka=brokers)
        assert f"  kafka          {brokers}  {message}\n" in devkit("status").out

    def test_one_that_does_not_answer_is_no_success(self, devkit: Devkit, kept: Kept, listening: int) -> None:
        silent = free_port()
        kept(kafka=f"127.0.0.1:{listening}", object_store=f"http://127.0.0.1:{silent}")
        finished = devkit("status")
        assert finished.code == 3
        assert f"object store   http://127.0.0.1:{silent}  DOES NOT ANSWER" in finished.out

    def test_one_that_takes_connections_and_says_nothing_does_not_answer(
        self, devkit: Devkit, kept: Kept, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("devkit.cli.stack._ANSWERING", timedelta(milliseconds=50))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            kept(kafka=f"127.0.0.1:{silent.getsockname()[1]}")
            assert "DOES NOT ANSWER" in devkit("status").out

    def test_a_part_that_a_fault_holds_is_named_with_it(self, devkit: Devkit, kept: Kept) -> None:
        run = kept().model_copy(update={"released": False})
        run.save()
        Journal(run.run_id).open("still", Pause(part="kafka"), holder=1, lasts_s=60)
        out = devkit("status").out
        assert re.fullmatch(
            r"stack cafe0001 \(of a command that is running\)\n"
            r"  fault          still holds kafka \(pause: {part: kafka}\) since [\d:]{8}, until [\d:]{8}; "
            r"`devkit fault remove still --run-id cafe0001` ends it\n",
            out,
        ), out


class TestDown:
    def test_leaves_the_stack_of_a_running_command_alone(self, devkit: Devkit, kept: Kept) -> None:
        run = kept().model_copy(update={"released": False})
        run.save()
        assert devkit("down").out == "no stack is up\n"
        assert devkit("down", "--run-id", run.run_id).code == 2
        assert psutil.Process(run.guardian_pid).is_running()

    def test_of_several_one_has_to_be_named(self, devkit: Devkit, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
        ended: list[str] = []
        monkeypatch.setattr("devkit.guardian.cleanup.end_run", lambda run: ended.append(run.run_id))
        kept("beef0002"), kept("cafe0001")
        finished = devkit("down")
        assert (finished.code, ended) == (2, [])
        assert finished.err.startswith(
            "error: 2 stacks are up: beef0002, cafe0001\nhint: `devkit down cafe0001` ends that one"
        )
        for both in (("--run-id", "beef0002", "--all"), ("beef0002", "--all"), ("beef0002", "--run-id", "cafe0001")):
            assert (devkit("down", *both).code, ended) == (2, [])
        assert (devkit("down", "cafe0001").code, ended) == (0, ["cafe0001"])
        assert (devkit("down", "--all").code, ended) == (0, ["cafe0001", "beef0002", "cafe0001"])

    def test_what_another_checkout_started_is_ended_by_its_name_alone(
        self, devkit: Devkit, kept: Kept, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ended: list[str] = []
        monkeypatch.setattr("devkit.guardian.cleanup.end_run", lambda run: ended.append(run.run_id))
        kept("beef0002").model_copy(update={"checkout": Path("/else/where")}).save()
        kept("feed0003").model_copy(update={"checkout": None}).save()
        left = (
            "stack beef0002 of /else/where stays up; `devkit down beef0002` ends it\n"
            "stack feed0003 of an earlier version of the kit stays up; `devkit down feed0003` ends it\n"
        )
        for arguments in ((), ("--all",)):
            finished = devkit("down", *arguments)
            assert (finished.code, finished.out, ended) == (0, "no stack of this checkout is up\n" + left, [])
        kept("cafe0001")
        assert devkit("down").out == "stack cafe0001 is down\n" + left
        devkit("down", "--run-id", "beef0002")
        assert ended == ["cafe0001", "beef0002"]

    def test_a_mistyped_id_brings_those_that_are_up(self, devkit: Devkit, kept: Kept) -> None:
        kept()
        assert devkit("down", "cafe").err == "error: there is no stack cafe\nhint: stacks that are up: cafe0001\n"


class TestLogs:
    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        directory = tmp_path / "logs"
        directory.mkdir()
        (directory / "kafka.log").write_text("one\ntwo\n")
        (directory / "mock-api.out").write_text("ready on é\nhalf a li")
        (directory / "pipeline.yaml").write_text("no log\n")
        return directory

    def test_whole_lines_behind_the_name_of_the_part(self, devkit: Devkit, kept: Kept, directory: Path) -> None:
        kept(logs=str(directory))
        finished = devkit("logs")
        assert finished.code == 0
        assert finished.out == f"{'kafka':<14} one\n{'kafka':<14} two\n{'mock-api':<14} ready on é\n"

    def test_following_shows_what_is_added_and_ends_with_an_interrupt(
        self, devkit: Devkit, kept: Kept, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept(logs=str(directory))

        def pause(_seconds: float) -> None:
            try:
                with (directory / "mock-api.out").open("a") as log:
                    log.write(next(additions))
            except StopIteration:
                raise KeyboardInterrupt from None  # no signal: a shell's background processes ignore it

        additions = iter(["ne\n", "and more\n"])
        monkeypatch.setattr(time, "sleep", pause)
        finished = devkit("logs", "-f")
        lines = [line.split(maxsplit=1)[1] for line in finished.out.splitlines()]
        assert lines == ["one", "two", "ready on é", "half a line", "and more"]
        # The stack stays up, so nothing may be said to the contrary.
        assert (finished.code, finished.err) == (0, "")

    def test_following_ends_when_the_stack_is_down(
        self, devkit: Devkit, kept: Kept, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = kept(logs=str(directory))
        answers = iter([True, False])
        monkeypatch.setattr(type(run), "guardian_is_alive", lambda _self: next(answers))
        assert devkit("logs", "--follow").code == 0
        assert list(answers) == []


class TestChoice:
    """Each command that takes --run-id, and uses one stack without it."""

    COMMANDS = (
        ("capture", "--topic", "a"),
        ("deferred", "list"),
        ("edit", "Main Page"),
        ("fault", "add", "--do", "{pause: {part: kafka}}"),
        ("fault", "add", "--status", "504"),
        ("fault", "list"),
        ("fault", "remove", "--all"),
        ("lag",),
        ("logs",),
        ("resume",),
        ("tail", "source"),
        ("topics",),
        ("traffic", "--topic", "a"),
    )

    @pytest.fixture(autouse=True)
    def runs(self, kept: Kept, tmp_path: Path) -> list[RunState]:
        """Stacks of other checkouts, to whose parts nothing may connect. They are paused where `resume` is tested."""
        runs = [kept(run_id, mock_API="none", logs="/nowhere") for run_id in ("beef0002", "feed0003")]
        places = {"beef0002": Path("/else/where"), "feed0003": None}
        runs = [run.model_copy(update={"checkout": places[run.run_id], "directory": tmp_path}) for run in runs]
        for run in runs:
            run.save()
        return runs

    def refusal(self, devkit: Devkit, command: tuple[str, ...], runs: list[RunState]) -> tuple[str, str]:
        if command == ("resume",):
            (runs[0].directory / "paused").touch()
            for run in runs:
                run.model_copy(update={"released": False}).save()
        finished = devkit(*command)
        assert (finished.code, finished.out) == (2, "")
        error, hint = finished.err.splitlines()
        assert not (runs[0].directory / "resume").exists()
        return error.replace("paused run", "stack"), hint

    def test_these_are_all(self) -> None:
        commands = {**cli.commands, **{f"fault {name}": command for name, command in fault.commands.items()}}
        with_option = {name for name, one in commands.items() if any(param.name == "run_id" for param in one.params)}
        tested = {" ".join(command[: 2 if command[0] == "fault" else 1]) for command in self.COMMANDS}
        assert with_option - {"down"} == tested

    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    def test_a_stack_of_another_checkout_is_used_by_its_id_alone(
        self, devkit: Devkit, runs: list[RunState], command: tuple[str, ...]
    ) -> None:
        error, hint = self.refusal(devkit, command, runs)
        assert error == "error: no stack of this checkout is up"
        assert "--run-id beef0002 is that of /else/where" in hint
        assert "--run-id feed0003 is that of an earlier version of the kit" in hint

    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    def test_of_several_one_has_to_be_named(
        self, devkit: Devkit, runs: list[RunState], command: tuple[str, ...]
    ) -> None:
        # Ids are drawn, so the last by name is not the last in time. Half a second apart is still the same process.
        starts = (runs[0].guardian_started, runs[0].guardian_started + 0.5)
        own = [
            run.model_copy(update={"checkout": CHECKOUT, "run_id": run_id, "guardian_started": started})
            for run, run_id, started in zip(runs, ("ffff0000", "aaaa0000"), starts, strict=True)
        ]
        for run in own:
            run.save()
        assert self.refusal(devkit, command, own) == (
            "error: 2 stacks of this checkout are up: ffff0000, aaaa0000",
            "hint: --run-id aaaa0000 chooses one",
        )

    def test_the_one_of_this_checkout_is_used(self, devkit: Devkit, kept: Kept, here: Path) -> None:
        (here / "kafka.log").write_text("one\n")
        kept("cafe0001", logs=str(here))
        kept("dead0004", younger_s=0.5, logs="/nowhere").model_copy(update={"checkout": None}).save()
        assert devkit("logs").out == f"{'kafka':<14} one\n"


class TestResume:
    def test_the_run_that_is_paused_finds_the_way_on_in_its_directory(
        self, devkit: Devkit, kept: Kept, tmp_path: Path
    ) -> None:
        kept().model_copy(update={"released": False, "directory": tmp_path}).save()
        (tmp_path / "paused").touch()
        finished = devkit("resume")
        assert (finished.code, finished.out) == (0, "run cafe0001 goes on\n")
        assert (tmp_path / "resume").exists()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [((), "no run waits"), (("--run-id", "cafe0001"), "run cafe0001 does not wait")],
    )
    def test_a_run_that_is_not_paused_does_not_go_on(
        self, devkit: Devkit, kept: Kept, tmp_path: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        kept().model_copy(update={"released": False, "directory": tmp_path}).save()
        finished = devkit("resume", *arguments)
        assert finished.code == 2
        assert finished.err.startswith(f"error: {message} at a `--pause-at` point\nhint: ")
        assert not (tmp_path / "resume").exists()

    @pytest.mark.parametrize("arguments", [(), ("--run-id", "cafe0001")])
    def test_a_kept_stack_is_not_paused(self, devkit: Devkit, kept: Kept, arguments: tuple[str, ...]) -> None:
        kept()
        finished = devkit("resume", *arguments)
        assert finished.code == 2
        assert "hint: running are: none" in finished.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--job", "rdf-updatr"), "--job rdf-updatr: there is no such job\nhint: did you mean 'rdf-updater'?"),
        (("--job", "edit-counts", "--no-pipeline"), "--job edit-counts and --no-pipeline\nhint: give one of them"),
        (("--triple-store-port", "7878"), "--triple-store-port is for a triple store, and none is asked for"),
    ],
)
def test_what_up_cannot_bring_up_is_refused_before_it_starts_anything(
    devkit: Devkit, here: Path, options: tuple[str, ...], message: str
) -> None:
    finished = devkit("up", *options)
    assert (finished.code, message in finished.err) == (2, True), finished.err
    assert not (here / "runs").exists()
