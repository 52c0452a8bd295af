import os
from pathlib import Path

import pytest

import devkit.doctor
from devkit.doctor.finding import MachineFinding
from devkit.errors import StackError
from devkit.faults.undo import Undone
from devkit.guardian.lease import journal_directory
from devkit.stack import external_lease
from devkit.stack.external_lease import ExternalLease, ReleasedLease
from tests.unit.devkit.cli.conftest import Devkit, Kept


class TestClean:
    @pytest.fixture
    def runs(self, here: Path) -> Path:
        for number in range(3):
            directory = here / "runs/slow-page" / f"run{number}"
            directory.mkdir(parents=True)
            os.utime(directory, (1_700_000_000 + number, 1_700_000_000 + number))
        return here / "runs"

    def test_removes_old_runs_and_says_so(self, devkit: Devkit, runs: Path) -> None:
        finished = devkit("clean", "--keep", "1")
        assert (finished.code, finished.out) == (0, "removed runs/slow-page/run0\nremoved runs/slow-page/run1\n")
        assert [path.name for path in (runs / "slow-page").iterdir()] == ["run2"]

    def test_keeps_ten_by_default_and_looks_elsewhere(self, devkit: Devkit, runs: Path, here: Path) -> None:
        assert devkit("clean").out == ""
        runs.rename(here / "other")
        assert devkit("clean", "--keep", "2", "--out", "other").out == "removed other/slow-page/run0\n"

    def test_the_logs_of_a_kept_stack_stay(self, devkit: Devkit, runs: Path, kept: Kept) -> None:
        kept(logs=str(runs.absolute() / "slow-page/run0"))
        assert devkit("clean", "--keep", "0").out == "removed runs/slow-page/run1\nremoved runs/slow-page/run2\n"
        assert (runs / "slow-page/run0").is_dir()

    def test_where_nothing_ever_ran(self, devkit: Devkit) -> None:
        finished = devkit("clean")
        assert (finished.code, finished.out, finished.err) == (0, "", "")

    def test_the_cache_goes_only_when_asked(self, devkit: Devkit, tmp_path: Path) -> None:
        for part in ("jars", "java"):
            (tmp_path / "cache" / part).mkdir(parents=True)
        assert devkit("clean").out == ""
        assert (tmp_path / "cache/jars").is_dir()
        assert devkit("clean", "--cache").out == f"removed jars and class cache in {tmp_path / 'cache'}\n"
        assert not (tmp_path / "cache/jars").exists()
        assert not (tmp_path / "cache/java").exists()


class TestStacksOfOthers:
    """What heal and clean say of them; what is done there is in the tests of the leases."""

    @pytest.fixture
    def tidied(self, monkeypatch: pytest.MonkeyPatch) -> list[ReleasedLease]:
        """What becomes of the leases."""
        found: list[ReleasedLease] = []
        monkeypatch.setattr(external_lease, "release_lapsed", lambda: found)
        self.lease().write()
        return found

    def lease(self) -> ExternalLease:
        place = {"kafka": "k:9092", "s3_endpoint": "http://s3", "mock_api": "http://m"}
        return ExternalLease.model_validate({"run_id": "cafe0001", "addresses": place, "topics": ["in"]})

    def test_topics_that_may_be_in_use_are_named(self, devkit: Devkit, tidied: list[ReleasedLease]) -> None:
        tidied.append(ReleasedLease(self.lease(), remaining=("in",)))
        finished = devkit("heal")
        assert (finished.code, finished.out.splitlines()) == (
            0,
            [
                "removed the objects of run cafe0001 below cafe0001/ at http://s3",
                "kept at k:9092, as they may be in use again: topics in",
                "  to remove one: kafka-topics.sh --bootstrap-server k:9092 --delete --topic NAME",
            ],
        )

    def test_what_cannot_be_reached_is_still_there(self, devkit: Devkit, tidied: list[ReleasedLease]) -> None:
        tidied.append(ReleasedLease(self.lease(), why="Kafka at k:9092 does not answer"))
        finished = devkit("heal")
        assert finished.code == 3
        assert "run cafe0001 has things at k:9092 and http://s3: Kafka at k:9092 does not answer" in finished.err
        assert devkit("clean").code == 0

    def test_a_run_that_is_alive_has_left_nothing(self, devkit: Devkit, tidied: list[ReleasedLease]) -> None:
        assert devkit("heal").out == "nothing is left of any run\n"


class TestDoctor:
    def found(self, monkeypatch: pytest.MonkeyPatch, *findings: MachineFinding) -> None:
        monkeypatch.setattr(devkit.doctor, "run_checks", lambda: list(findings))

    def test_a_line_for_each_finding(self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found(
            monkeypatch,
            MachineFinding("memory", "ok", "24 GiB", hint="never shown"),
            MachineFinding("docker", "warn", "not there", hint="only needed for compose"),
        )
        finished = devkit("doctor")
        assert finished.code == 0
        assert finished.out == (
            "ok    memory         24 GiB\n"
            "warn  docker         not there\n"
            "                     hint: only needed for compose\n"
        )

    def test_a_failed_check_is_no_success(self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found(monkeypatch, MachineFinding("disk", "fail", "1 MiB free", hint="free some"))
        assert devkit("doctor").code == 3

    @pytest.mark.parametrize(("made", "message"), [(True, ""), (False, "another run makes it now\n")])
    def test_it_makes_the_class_cache_when_asked(
        self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch, made: bool, message: str
    ) -> None:
        self.found(monkeypatch)
        monkeypatch.setattr("devkit.programs.spark.training.train_now", lambda: made)
        assert devkit("doctor").err == ""
        assert devkit("doctor", "--train").err == f"making the class cache, about a minute\n{message}"

    def test_a_training_that_fails_is_an_error(self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> bool:
            raise StackError("the JVM wrote no class cache", hint="its log is x.log")

        monkeypatch.setattr("devkit.programs.spark.training.train_now", fail)
        finished = devkit("doctor", "--train")
        assert finished.code == 3
        assert "the JVM wrote no class cache" in finished.err


class TestFaultsThatOutlivedTheirRun:
    def test_heal_undoes_them_and_names_what_it_cannot(self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch) -> None:
        found = [
            Undone("r1", "still", "pause: {part: kafka}"),
            Undone("r2", "more", "add_partitions: {}", irreversible=("topic t keeps 3 partitions",)),
        ]
        monkeypatch.setattr("devkit.faults.undo.heal_faults", lambda: found)
        journal_directory("r1").mkdir(parents=True)
        finished = devkit("heal")
        assert (finished.code, finished.out.splitlines()) == (
            0,
            [
                "undone fault still of run r1 (pause: {part: kafka})",
                "fault more of run r2 cannot be undone: topic t keeps 3 partitions",
            ],
        )

    def test_what_is_still_there_is_an_error(self, devkit: Devkit, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("devkit.faults.undo.heal_faults", lambda: [Undone("r1", "x", "pause", why="no answer")])
        journal_directory("r1").mkdir(parents=True)
        finished = devkit("heal")
        assert finished.code == 3
        assert "warning: fault x of run r1 (pause) is not undone: no answer" in finished.err
