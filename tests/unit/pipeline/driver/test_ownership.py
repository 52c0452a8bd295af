"""Who has a checkpoint, with a directory in the place of Hadoop's file system."""

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from pipeline.deferral.fold import FencedError
from pipeline.driver.job_checkpoint import OWNER_FILE, Ownership
from tests.unit.pipeline.driver.test_job_checkpoint import Files, spark


class DownFiles(Files):
    error: Exception = Py4JError("the store is down")

    def exists(self, path: Path) -> bool:
        raise self.error


def start(place: Path, files: Files | None = None) -> Ownership:
    return Ownership(spark(files or Files()), str(place))


def test_the_later_start_has_it(tmp_path: Path) -> None:
    older, newer = start(tmp_path), start(tmp_path)
    older.take()
    older.check()
    newer.take()
    newer.check()
    for asked in (older.check, older.check_if_reachable):
        with pytest.raises(FencedError, match="another start of this job has taken checkpoint") as fenced:
            asked()
        assert fenced.value.exit_code == 2


def test_who_removed_the_file_took_nothing(tmp_path: Path) -> None:
    owner = start(tmp_path)
    owner.take()
    (tmp_path / OWNER_FILE).unlink()
    owner.check()


def test_a_store_that_is_down_matters_before_a_write_alone(tmp_path: Path) -> None:
    owner: Any = start(tmp_path, DownFiles())
    owner.check_if_reachable()
    with pytest.raises(Py4JError):
        owner.check()


def test_of_a_jvm_that_is_gone_nothing_can_be_asked(tmp_path: Path) -> None:
    """py4j lets the operating system's own error through."""
    files = DownFiles()
    files.error = ConnectionRefusedError(111, "Connection refused")
    start(tmp_path, files).check_if_reachable()
