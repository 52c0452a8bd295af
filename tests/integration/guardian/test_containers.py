"""A run that uses Docker: what carries its label is removed at its end, whoever ends it."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from devkit.errors import StackError, UsageError
from devkit.guardian import Guardian
from devkit.guardian.cleanup import Healed, end_run, heal
from devkit.guardian.run_state import PartPlace, RunState, known_runs
from tests.integration.guardian.conftest import await_value
from tests.unit.devkit.docker.fake_docker import FakeDocker

ROOMS = ("devkit/guardian", "devkit/docker")

NO_ENGINE = ("ps", 1, "", "Cannot connect to the Docker daemon at unix:///fake.sock. Is the docker daemon running?")


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    place = tmp_path / "fake-docker"
    place.mkdir()
    return FakeDocker(place)


def looked_for(fake: FakeDocker, run_id: str) -> bool:
    label = f"label=enrichment-devkit.run={run_id}"
    asked = [words[1] for words in fake.asked() if label in words]
    return {"ps", "network", "volume"} <= set(asked)


def test_an_end_in_order_looks_for_containers(fake: FakeDocker) -> None:
    with Guardian() as guardian:
        guardian.use_docker(fake.answer())
        assert fake.asked() == []
    assert looked_for(fake, guardian.run_id)
    assert {words[0] for words in fake.asked()} == {"unix:///fake.sock"}
    assert known_runs() == []


def test_a_run_without_containers_asks_nobody(fake: FakeDocker) -> None:
    fake.answer()
    with Guardian():
        pass
    assert fake.asked() == []


def test_the_state_says_which_engine_and_which_parts(fake: FakeDocker) -> None:
    access = fake.answer()
    part = PartPlace(name="kafka", address="127.0.0.1:1", container="abc")
    with Guardian() as guardian:
        guardian.use_docker(access)
        guardian.announce({"kafka": "127.0.0.1:1"}, [part])
        (run,) = known_runs()
        assert (run.docker, run.parts, run.addresses) == (access, (part,), {"kafka": "127.0.0.1:1"})


class TestWithoutAnEngine:
    def test_the_end_says_what_is_left_and_keeps_the_state(self, fake: FakeDocker) -> None:
        guardian = Guardian()
        guardian.use_docker(fake.answer(NO_ENGINE))
        with pytest.raises(StackError, match=r"containers of the run are left: .*no Docker engine answers") as caught:
            guardian.__exit__(None, None, None)
        assert "`devkit heal`" in (caught.value.hint or "")
        assert [run.run_id for run in known_runs()] == [guardian.run_id]

        healed = heal()
        assert healed.ended == ()
        assert "no Docker engine answers" in healed.left[guardian.run_id]
        fake.answer()
        assert heal() == Healed((guardian.run_id,), {})
        assert known_runs() == []

    def test_an_error_that_is_under_way_is_not_hidden(self, fake: FakeDocker) -> None:
        error = UsageError("what really happened", hint="what to do")
        guardian = Guardian()
        guardian.use_docker(fake.answer(NO_ENGINE))
        guardian.__exit__(UsageError, error, None)
        assert (error.hint or "").startswith("what to do; containers are left: ")
        fake.answer()
        heal()

    def test_down_says_why(self, fake: FakeDocker) -> None:
        with Guardian() as guardian:
            guardian.use_docker(fake.answer(NO_ENGINE))
            guardian.release({})
        (run,) = known_runs()
        with pytest.raises(StackError, match="no Docker engine answers"):
            end_run(run)
        guardian._process.wait()
        fake.answer()
        end_again: RunState = run
        end_run(end_again)
        assert known_runs() == []


def test_a_killed_guardian_leaves_them_to_the_command_line(fake: FakeDocker) -> None:
    with Guardian() as guardian:
        guardian.use_docker(fake.answer())
        (run,) = known_runs()
        os.kill(run.guardian_pid, signal.SIGKILL)
        await_value(lambda: not psutil.pid_exists(run.guardian_pid) or not run.guardian_is_alive(), "its end")
    assert looked_for(fake, guardian.run_id)
    assert known_runs() == []


def test_a_damaged_state_file_is_healed_with_the_engine_of_today(
    fake: FakeDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from devkit.guardian.run_state import state_path

    fake.answer(("info", 0, '{"ServerVersion": "28.2.2", "MemTotal": 1}', ""))
    monkeypatch.setenv("PATH", fake.path)
    monkeypatch.setenv("DOCKER_HOST", "unix:///today.sock")
    state_path("cafe0002").parent.mkdir(parents=True, exist_ok=True)
    state_path("cafe0002").write_text("{")
    assert heal() == Healed(("cafe0002",), {})
    assert looked_for(fake, "cafe0002")
    assert {words[0] for words in fake.asked()} == {"unix:///today.sock"}
