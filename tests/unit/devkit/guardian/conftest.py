from pathlib import Path

import pytest


def keep_within(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State files and temporary directories of guardians stay in a directory."""
    (directory / "tmp").mkdir()
    monkeypatch.setenv("DEVKIT_CACHE", str(directory / "cache"))
    monkeypatch.delenv("DEVKIT_STATE", raising=False)
    monkeypatch.setenv("TMPDIR", str(directory / "tmp"))


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """State files keep within the test's directory."""
    keep_within(tmp_path, monkeypatch)
    return tmp_path
