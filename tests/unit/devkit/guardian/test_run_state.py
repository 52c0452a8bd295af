from pathlib import Path
from typing import Any

import psutil
import pytest

from devkit.guardian.processes import birth
from devkit.guardian.run_state import RunState, known_runs, state_path
from tests.unit.devkit.guardian.test_birth import set_clock


def a_run(run_id: str = "cafe0001", **changes: object) -> RunState:
    me = psutil.Process()
    values = {"run_id": run_id, "guardian_pid": me.pid, "guardian_started": me.create_time()}
    values |= {"directory": Path("/tmp/devkit-x")}
    return RunState.model_validate(values | changes)


def test_reads_back_as_it_was_saved_last(places: Path) -> None:
    assert known_runs() == []
    a_run().save()
    run = a_run(released=True, addresses={"kafka": "127.0.0.1:9092"})
    run.save()
    assert known_runs() == [run]
    assert list((places / "cache/runs").iterdir()) == [state_path("cafe0001")] == [places / "cache/runs/cafe0001.json"]


def test_runs_are_listed_oldest_first() -> None:
    for run_id, started in (("aaaa", 300.0), ("bbbb", 100.0), ("cccc", 200.0)):
        a_run(run_id, guardian_started=started).save()
    assert [run.run_id for run in known_runs()] == ["bbbb", "cccc", "aaaa"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"run_id": "x"}', b"\xff\xfe"])
def test_a_file_that_cannot_be_understood_is_left_out_and_left_alone(places: Path, content: bytes) -> None:
    a_run().save()
    (places / "cache/runs/directory.json").mkdir()  # nor one that cannot be read
    other = places / "cache/runs/other.json"
    other.write_bytes(content)
    assert [run.run_id for run in known_runs()] == ["cafe0001"]
    assert other.read_bytes() == content


def test_a_field_of_a_newer_version_is_no_obstacle(places: Path) -> None:
    a_run().save()
    path = state_path("cafe0001")
    path.write_text(path.read_text().replace("{", '{"new_field": 1,', 1))
    assert [run.run_id for run in known_runs()] == ["cafe0001"]


class TestAlive:
    @pytest.mark.parametrize(
        ("seen", "is_alive"),
        [({}, True), ({"guardian_started": 3600.0}, False), ({"guardian_birth": "1.00"}, False)],
        ids=["this process is", "another one that began at another time", "another one of another birth"],
    )
    def test_a_process_under_the_id(self, seen: dict[str, Any], *, is_alive: bool) -> None:
        assert a_run(**seen).guardian_is_alive() is is_alive

    def test_this_process_is_also_when_the_clock_was_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run = a_run(guardian_birth=birth(psutil.Process().pid))
        assert run.guardian_is_alive()
        set_clock(monkeypatch)
        assert run.guardian_is_alive()
