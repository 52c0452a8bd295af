"""A real guardian with real processes: what it starts, what it tells, and that nothing outlives it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.guardian import messages as m
from devkit.guardian.cleanup import Healed, end_run, heal
from devkit.guardian.processes import RUN_VARIABLE, TREE_VARIABLE, birth, is_alive
from devkit.guardian.run_state import PartPlace, ProgramPlace, known_runs, state_path, unreadable_states
from tests.integration.guardian.conftest import SLEEP, await_daemon, await_gone, await_value, daemon, of_run

ROOMS = ("devkit/guardian",)

TOP = Path(__file__).parents[3]


def exit_code(process: ManagedProcess) -> int:
    await_value(lambda: process.exit_code is not None, f"{process.name} to end")
    assert process.exit_code is not None
    return process.exit_code


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-c", program]


class TestStarting:
    def test_a_process_knows_its_run_and_lives_in_its_directory(self, running: Guardian, tmp_path: Path) -> None:
        program = (
            "import json, os, sys; print(json.dumps([dict(os.environ), os.getcwd(), sys.stdin.read(), os.getpid()]))"
        )
        process = running.spawn("x", python(program), logs=tmp_path / "logs", env={"MINE": "1"}, split=True)
        assert exit_code(process) == 0
        env, cwd, stdin, pid = json.loads(process.stdout.read_text())
        assert env["MINE"] == "1"
        assert env[RUN_VARIABLE] == running.run_id
        assert env[TREE_VARIABLE] == f"{running.run_id}/{process.request}"
        assert env["TMPDIR"] == cwd == str(running.directory)
        assert (stdin, pid) == ("", process.pid)

    def test_the_state_lists_programs_until_they_are_cleaned_up(self, tmp_path: Path) -> None:
        with Guardian() as guardian:
            guardian.spawn("part", SLEEP, logs=tmp_path)
            failing = guardian.spawn("failing", python("raise SystemExit(3)"), logs=tmp_path, program=True)
            living = guardian.spawn("living", SLEEP, logs=tmp_path, split=True, program=True)
            assert exit_code(failing) == 3

            def listed() -> tuple[ProgramPlace, ...]:
                (run,) = known_runs()
                assert run.checkout == TOP
                return run.programs

            there = ProgramPlace(name="living", pid=living.pid, log=living.stderr, output=living.stdout)
            gone = ProgramPlace(name="failing", pid=failing.pid, log=failing.stderr, output=failing.stdout, exit_code=3)
            assert set(listed()) == {there, gone}
            failing.kill_tree()
            assert listed() == (there,)
            living.kill_tree()
            assert listed() == ()

    def test_output_and_errors_go_to_one_log_or_to_two(self, running: Guardian, tmp_path: Path) -> None:
        program = python("import sys; print('out', flush=True); print('err', file=sys.stderr)")
        (tmp_path / "one.log").write_text("a log begins afresh\n")
        one = running.spawn("one", program, logs=tmp_path)
        two = running.spawn("two", program, logs=tmp_path, split=True)
        assert (exit_code(one), exit_code(two)) == (0, 0)
        assert (tmp_path / "one.log").read_text() == "out\nerr\n"
        assert (tmp_path / "two.out").read_text() == "out\n"
        assert (tmp_path / "two.log").read_text() == "err\n"

    def test_a_successor_goes_on_with_the_log_and_takes_the_place(self, tmp_path: Path) -> None:
        with Guardian() as guardian:
            first = guardian.spawn("x", python("print('one')"), logs=tmp_path)
            other = PartPlace(name="other", address="127.0.0.1:2", pid=1)
            place = PartPlace(name="x", address="127.0.0.1:1", pid=first.pid)
            guardian.announce({}, [place, other])
            assert exit_code(first) == 0
            second = guardian.spawn("x", python("print('two')"), logs=tmp_path, succeeds=first.pid)
            assert exit_code(second) == 0
            (run,) = known_runs()
            assert run.parts == (place.model_copy(update={"pid": second.pid}), other)
        assert (tmp_path / "x.log").read_text() == "one\ntwo\n"

    @pytest.mark.parametrize(
        ("argv", "reason"),
        [
            (["/nowhere/java"], "No such file or directory: '/nowhere/java'"),
            (["/"], "Permission denied"),
            (["sleep", "\0"], "embedded null byte"),
        ],
    )
    def test_what_cannot_be_started_is_refused_and_the_run_goes_on(
        self, running: Guardian, tmp_path: Path, argv: list[str], reason: str
    ) -> None:
        with pytest.raises(StackError, match=f"^kafka could not be started: .*{reason}"):
            running.spawn("kafka", argv, logs=tmp_path)
        assert exit_code(running.spawn("x", python(""), logs=tmp_path)) == 0

    def test_a_place_for_temporary_files_that_cannot_be_made_is_named(self, running: Guardian, tmp_path: Path) -> None:
        scratch = tmp_path / "file"
        scratch.write_text("")
        with pytest.raises(
            StackError, match=r"^x could not be started: .*/file, for its temporary files, cannot be made"
        ):
            running.spawn("x", python(""), logs=tmp_path, scratch=scratch)

    def test_a_guardian_that_cannot_begin_says_why(self, places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (places / "file").write_text("")
        monkeypatch.setenv("DEVKIT_CACHE", str(places / "file" / "below"))
        with pytest.raises(StackError, match=r"guardian could not begin: .*Not a directory") as caught:
            Guardian()
        assert "DEVKIT_CACHE" in (caught.value.hint or "")
        assert list((places / "tmp").iterdir()) == []


class TestEnds:
    @pytest.mark.parametrize(("program", "code"), [("", 0), ("raise SystemExit(3)", 3)])
    def test_exit_codes(self, running: Guardian, tmp_path: Path, program: str, code: int) -> None:
        assert exit_code(running.spawn("x", python(program), logs=tmp_path)) == code

    def test_a_signal_reaches_the_process_and_shows_in_its_exit_code(self, running: Guardian, tmp_path: Path) -> None:
        process = running.spawn("x", SLEEP, logs=tmp_path)
        assert process.exit_code is None
        process.signal(signal.SIGTERM)
        assert exit_code(process) == -signal.SIGTERM

    def test_a_signal_for_a_process_that_is_not_of_the_run_is_not_passed_on(
        self, running: Guardian, tmp_path: Path
    ) -> None:
        stranger = subprocess.Popen(SLEEP)
        try:
            running.send(m.Signal(pid=stranger.pid, number=signal.SIGKILL))
            assert exit_code(running.spawn("x", python(""), logs=tmp_path)) == 0
            assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()

    def test_last_words(self, running: Guardian, tmp_path: Path) -> None:
        program = "import sys; print(*range(9), sep='\\n'); print(*sys.argv[1:], sep='\\n', file=sys.stderr)"
        loud = running.spawn("loud", [*python(program), "a", "b", "c"], logs=tmp_path, split=True)
        plain = running.spawn("plain", python("print(*range(9), sep='\\n')"), logs=tmp_path, split=True)
        quiet = running.spawn("quiet", python(""), logs=tmp_path)
        for process in (loud, plain, quiet):
            exit_code(process)
        assert loud.last_words(2) == "b\nc"
        assert plain.last_words() == "4\n5\n6\n7\n8"
        assert quiet.last_words() == "(it printed nothing)"


class TestKillTree:
    def test_ends_what_was_started_and_its_orphans_and_nothing_else(self, running: Guardian, tmp_path: Path) -> None:
        trees = [
            running.spawn(f"tree{n}", daemon(tmp_path / f"pid{n}", stay=stay), logs=tmp_path)
            for n, stay in enumerate((True, False, True))
        ]
        daemons = [await_daemon(tmp_path / f"pid{n}") for n in range(3)]
        # The second has ended by itself, and left an orphan.
        assert exit_code(trees[1]) == 0
        for tree in trees[:2] * 2:  # it may be asked again
            tree.kill_tree()
        # Gone when the call returns; the exit code is known too.
        assert trees[0].exit_code == -signal.SIGKILL
        assert [is_alive(process) for process in daemons] == [False, False, True]
        assert trees[2].exit_code is None


class TestNothingIsLeft:
    def test_after_shutdown(self, tmp_path: Path, places: Path) -> None:
        with Guardian() as guardian:
            guardian.spawn("x", daemon(tmp_path / "pid", stay=True), logs=tmp_path)
            await_daemon(tmp_path / "pid")
            (guardian.directory / "file").write_text("")
            assert [run.run_id for run in known_runs()] == [guardian.run_id]
            assert guardian.directory.parent == places / "tmp"
            guardian.shutdown()
            guardian.shutdown()  # it may be asked again
        assert of_run(guardian.run_id) == []
        assert not guardian.directory.exists()
        assert known_runs() == []

    def test_after_an_exception(self, tmp_path: Path) -> None:
        guardian = Guardian()
        guardian.spawn("x", SLEEP, logs=tmp_path)
        with pytest.raises(RuntimeError), guardian:
            raise RuntimeError
        assert of_run(guardian.run_id) == []

    def test_when_the_command_line_is_killed(self, tmp_path: Path, places: Path) -> None:
        program = (
            "import sys, time; from pathlib import Path; from devkit.guardian import Guardian; "
            "from tests.integration.guardian.conftest import daemon; guardian = Guardian(); "
            f"logs = Path({str(tmp_path)!r}); guardian.spawn('x', daemon(logs / 'pid', stay=True), logs=logs); "
            "print(guardian.run_id, flush=True); time.sleep(600)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=TOP, stdout=subprocess.PIPE, text=True
        ) as command_line:
            assert command_line.stdout is not None
            run_id = command_line.stdout.readline().strip()
            await_daemon(tmp_path / "pid")
            command_line.kill()
        await_value(lambda: not of_run(run_id), "every process of the run to be gone")
        await_value(lambda: not known_runs(), "the state file to be gone")
        assert list((places / "tmp").iterdir()) == []

    def test_when_the_guardian_itself_has_a_defect(self, tmp_path: Path, places: Path) -> None:
        with Guardian() as guardian:
            guardian.spawn("x", daemon(tmp_path / "pid", stay=True), logs=tmp_path)
            await_daemon(tmp_path / "pid")
            guardian._sock.sendall(b"this is no command\n")
            await_value(lambda: not of_run(guardian.run_id), "every process of the run to be gone")
            assert known_runs() == []
        assert list((places / "tmp").iterdir()) == []


Killed = tuple[Guardian, ManagedProcess, psutil.Process]


class TestWhenTheGuardianIsKilled:
    @pytest.fixture
    def killed(self, tmp_path: Path) -> Killed:
        """A guardian that was killed, the process it had started, and that one's daemon."""
        guardian = Guardian()
        process = guardian.spawn("x", daemon(tmp_path / "pid", stay=True), logs=tmp_path)
        below = await_daemon(tmp_path / "pid")
        guardian._process.kill()
        await_value(lambda: guardian._gone, "the client to see that it is gone")
        return guardian, process, below

    def test_the_command_line_is_told_with_a_remedy(self, killed: Killed, tmp_path: Path) -> None:
        guardian, process, _ = killed
        with guardian:
            assert process.exit_code == -signal.SIGKILL
            for call in (
                lambda: guardian.spawn("y", SLEEP, logs=tmp_path),
                process.kill_tree,
                lambda: process.signal(signal.SIGTERM),
                lambda: guardian.release({}),
            ):
                with pytest.raises(StackError, match=r"guardian process (has )?ended") as caught:
                    call()
                assert "`devkit clean`" in (caught.value.hint or "")
        heal()

    def test_its_children_die_with_it_and_heal_ends_the_rest(self, killed: Killed) -> None:
        guardian, process, below = killed
        if sys.platform == "linux":
            await_value(
                lambda: process.pid not in {child.pid for child in of_run(guardian.run_id)}, "the child to be killed"
            )
        assert is_alive(below)
        assert [run.run_id for run in known_runs()] == [guardian.run_id]
        assert heal() == Healed((guardian.run_id,), {})
        await_gone(below)
        assert of_run(guardian.run_id) == []
        assert not guardian.directory.exists()
        assert known_runs() == []
        assert heal() == Healed((), {})
        guardian.shutdown()

    def test_the_command_line_removes_what_is_left(self, killed: Killed) -> None:
        guardian, process, below = killed
        with guardian:
            await_value(lambda: process.exit_code, "the end of the guardian to be known")
            with pytest.raises(StackError, match="guardian process was killed"):
                process.require_guardian()
        await_gone(below)
        assert of_run(guardian.run_id) == []
        assert not guardian.directory.exists()
        assert known_runs() == []

    def test_a_damaged_state_file_is_healed_by_its_name(self, killed: Killed, monkeypatch: pytest.MonkeyPatch) -> None:
        guardian, _, below = killed
        monkeypatch.setattr("tempfile.tempdir", str(guardian.directory.parent))
        state_path(guardian.run_id).write_text("{")
        assert known_runs() == []
        assert unreadable_states() == [state_path(guardian.run_id)]
        assert heal() == Healed((guardian.run_id,), {})
        await_gone(below)
        assert not guardian.directory.exists()
        assert unreadable_states() == []
        guardian.shutdown()


class TestKeeping:
    def test_a_released_run_stays_until_it_is_ended(self, tmp_path: Path) -> None:
        with Guardian() as guardian:
            process = guardian.spawn("x", daemon(tmp_path / "pid", stay=True), logs=tmp_path)
            below = await_daemon(tmp_path / "pid")
            guardian.release({"kafka": "127.0.0.1:9092"})
        (run,) = known_runs()
        assert (run.run_id, run.released, run.addresses) == (guardian.run_id, True, {"kafka": "127.0.0.1:9092"})
        assert run.directory == guardian.directory
        assert psutil.pid_exists(process.pid)
        assert is_alive(below)
        # It is alive, so there is nothing to heal.
        assert heal() == Healed((), {})

        end_run(run)
        guardian._process.wait()
        assert of_run(guardian.run_id) == []
        assert known_runs() == []
        assert not guardian.directory.exists()

    def test_a_child_that_ends_later_does_not_disturb_the_kept_run(self, tmp_path: Path) -> None:
        with Guardian() as guardian:
            process = guardian.spawn("x", SLEEP, logs=tmp_path)
            guardian.release({})
        os.kill(process.pid, signal.SIGTERM)
        await_value(lambda: not psutil.pid_exists(process.pid), "the child to be reaped by the guardian")
        (run,) = known_runs()
        assert run.guardian_is_alive()
        end_run(run)
        guardian._process.wait()
        end_run(run)  # that it has ended is no error


def test_two_runs_at_once_do_not_touch_each_other(tmp_path: Path) -> None:
    with Guardian() as stays:
        kept = stays.spawn("x", SLEEP, logs=tmp_path)
        with Guardian() as goes:
            goes.spawn("y", SLEEP, logs=tmp_path)
            assert {run.run_id for run in known_runs()} == {stays.run_id, goes.run_id}
            assert stays.directory != goes.directory
        assert kept.exit_code is None
        assert [run.run_id for run in known_runs()] == [stays.run_id]


def test_the_state_of_a_run_has_the_birth_of_its_guardian() -> None:
    with Guardian():
        (run,) = known_runs()
        assert run.guardian_birth == birth(run.guardian_pid)
