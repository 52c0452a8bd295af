import os
import shutil
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.errors import DevkitError
from devkit.headroom.shortage import Headroom
from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraped
from devkit.play import run_directory
from devkit.play.recording import RECORDING, Recording
from devkit.play.run_directory import make_run_directory, make_series_directory, prune_runs, require_space
from devkit.report.series_directory import write_series
from tests.unit.devkit.headroom.readings import samples
from tests.unit.devkit.observed import an_observation, observed_with
from tests.unit.devkit.report.test_run_series import EMPTY, a_run

Usage = namedtuple("Usage", "total used free")  # what shutil.disk_usage returns


def age(path: Path, seconds: int) -> Path:
    """Make a directory as old as that."""
    moment = 1_800_000_000 - seconds
    os.utime(path, (moment, moment))
    return path


class TestMaking:
    def test_is_new_and_empty_and_below_the_scenario(self, tmp_path: Path) -> None:
        directory = make_run_directory(tmp_path / "runs", "slow-page")
        assert directory.is_dir()
        assert list(directory.iterdir()) == []
        assert directory.parent == tmp_path / "runs" / "slow-page"

    def test_latest_leads_to_the_newest_also_when_the_tree_is_moved(self, tmp_path: Path) -> None:
        make_run_directory(tmp_path / "runs", "slow-page")
        directory = make_run_directory(tmp_path / "runs", "other")
        (tmp_path / "runs").rename(tmp_path / "moved")
        assert (tmp_path / "moved/latest").resolve() == tmp_path / "moved" / "other" / directory.name

    def test_runs_at_the_same_time_get_places_of_their_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # A thread stands for a process, of which each makes one run.
        monkeypatch.setattr(os, "getpid", threading.get_ident)
        together = threading.Barrier(8)

        def make(_number: int) -> Path:
            together.wait(30)
            return make_run_directory(tmp_path, "x")

        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(make, range(8)))
        assert len(set(made)) == 8
        assert (tmp_path / "latest").resolve() in made

    def test_latest_is_never_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The link is replaced, not removed and made: at each step of the way it leads somewhere."""
        make_run_directory(tmp_path, "x")
        seen: list[bool] = []
        for name in ("symlink_to", "replace", "unlink"):
            original = getattr(Path, name)

            def spy(self: Path, *args: object, _original: object = original, **kwargs: object) -> object:
                result = _original(self, *args, **kwargs)  # type: ignore[operator]
                seen.append((tmp_path / "latest").exists())
                return result

            monkeypatch.setattr(Path, name, spy)
        make_run_directory(tmp_path, "x")
        assert seen == [True] * 3

    def test_a_link_left_by_a_killed_run_is_no_obstacle_and_no_half_made_one_is_left(self, tmp_path: Path) -> None:
        (tmp_path / f".latest-{os.getpid()}").symlink_to("nowhere")
        assert make_run_directory(tmp_path, "x").is_dir()
        assert {path.name for path in tmp_path.iterdir()} == {"latest", "x"}

    def test_a_place_that_cannot_be_written_is_named_with_a_remedy(self, tmp_path: Path) -> None:
        # A file where the directory should be: the file mode would not keep the superuser out.
        (tmp_path / "runs").write_text("")
        with pytest.raises(DevkitError, match=r"runs/slow-page cannot be written: Not a directory") as caught:
            make_run_directory(tmp_path / "runs", "slow-page")
        assert caught.value.hint == "choose another place with --out"
        assert caught.value.exit_code == 3


def test_a_series_is_beside_the_runs_and_latest_stays_with_the_newest_run(tmp_path: Path) -> None:
    run = make_run_directory(tmp_path, "slow-page")
    series = make_series_directory(tmp_path, "slow-page")
    assert series.parent == run.parent
    assert series.name.startswith("series-20")
    assert (tmp_path / "latest").resolve() == run


class TestSpace:
    def test_too_little_names_the_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        free = {tmp_path / "a": run_directory._NEEDED_BYTES, tmp_path / "b": run_directory._NEEDED_BYTES - 1}
        monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(0, 0, free[place]))
        require_space(tmp_path / "a", tmp_path / "a")
        with pytest.raises(DevkitError, match=r"/b has 1023 MiB free, a run needs 1024 MiB") as caught:
            require_space(tmp_path / "a", tmp_path / "b")
        assert "TMPDIR" in (caught.value.hint or "")


class TestPruning:
    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        """Four runs of one scenario and two of another; the higher the number the older."""
        for scenario, count in (("a", 4), ("b", 2)):
            for number in range(count):
                directory = tmp_path / scenario / f"run{number}"
                directory.mkdir(parents=True)
                (directory / "result.json").write_text("{}")
                age(directory, number * 100)
        (tmp_path / "latest").symlink_to("a/run0")
        return tmp_path

    def test_keeps_the_newest_of_each_scenario(self, runs: Path) -> None:
        assert prune_runs(runs, 2) == [runs / "a/run3", runs / "a/run2"]
        assert sorted(path.name for path in (runs / "a").iterdir()) == ["run0", "run1"]
        assert sorted(path.name for path in (runs / "b").iterdir()) == ["run0", "run1"]

    @pytest.mark.parametrize(("keep", "removed"), [(4, 0), (0, 6)])
    def test_none_and_all(self, runs: Path, keep: int, removed: int) -> None:
        assert len(prune_runs(runs, keep)) == removed
        assert (runs / "latest").is_symlink() is (keep > 0), "a latest that leads nowhere is removed"

    def test_a_series_is_no_run_and_stays_as_long_as_one_of_its_runs(self, runs: Path) -> None:
        for names in (("run0", "run3"), ("run2", "run3")):
            series = EMPTY
            for seed, name in enumerate(names):
                series = series.with_run(a_run(seed, 0).model_copy(update={"directory": f"elsewhere/a/{name}"}))
            directory = runs / f"a/series-{names[0]}"
            directory.mkdir()
            write_series(directory, series)
        assert prune_runs(runs, 2) == [runs / "a/run3", runs / "a/run2", runs / "a/series-run2"]
        assert (runs / "a/series-run0").is_dir()

    def test_what_is_in_use_stays(self, runs: Path) -> None:
        """The logs of a stack that was kept are below the directory of its run."""
        removed = prune_runs(runs, 1, in_use=[(runs / "a/run3/stack").absolute(), (runs / "b/run1").absolute()])
        assert removed == [runs / "a/run2", runs / "a/run1"]

    def test_what_latest_leads_to_stays_and_is_not_taken_for_a_scenario(self, runs: Path) -> None:
        for arm in ("incident", "fixed"):
            (runs / "a/run0" / arm).mkdir()
        age(runs / "a/run0", 0)
        prune_runs(runs, 1)
        assert (runs / "latest").resolve() == runs / "a/run0"
        assert {path.name for path in (runs / "latest").iterdir()} == {"incident", "fixed", "result.json"}

    def test_files_are_left_alone(self, runs: Path) -> None:
        (runs / "notes.txt").write_text("")
        (runs / "a/notes.txt").write_text("")
        prune_runs(runs, 0)
        assert (runs / "notes.txt").exists()
        assert (runs / "a/notes.txt").exists()

    def test_where_nothing_ever_ran(self, tmp_path: Path) -> None:
        assert prune_runs(tmp_path / "runs", 10) == []


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    recording = Recording(an_observation(stalls=("no commit",)), Headroom(samples(1, 2, 3), stretch=2))
    recording.write(tmp_path)
    assert Recording.read((tmp_path / RECORDING).read_bytes()) == recording


def test_pages_of_metrics_are_left_out(tmp_path: Path) -> None:
    series = ("lag", frozenset({("partition", "0")}))
    recording = Recording(an_observation(metrics=Scraped(1, frozenset({series}), {series: 2.0})), Headroom(()))
    recording.write(tmp_path)
    bare = replace(recording, observation=observed_with(recording.observation, metrics=NOTHING_SCRAPED))
    assert Recording.read((tmp_path / RECORDING).read_bytes()) == bare
