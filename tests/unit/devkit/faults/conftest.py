from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Journals stay within the test's directory."""
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
