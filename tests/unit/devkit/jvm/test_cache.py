from pathlib import Path

import pytest

from devkit.jvm.cache import cache_dir, state_dir


@pytest.mark.parametrize(
    ("written", "place"),
    [("{here}/there", "there"), ("relative", "relative"), ("~/there", "home/there")],
    ids=["an absolute path", "a relative one is made absolute", "a tilde is home"],
)
def test_the_variable_names_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DEVKIT_CACHE", written.format(here=tmp_path))
    assert cache_dir() == tmp_path / place


def test_without_it_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir().is_relative_to(tmp_path)
    assert cache_dir().name == "enrichment-devkit"


def test_the_state_is_in_the_cache_unless_a_directory_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    assert state_dir() == tmp_path / "cache"
    monkeypatch.setenv("DEVKIT_STATE", str(tmp_path / "state"))
    assert (state_dir(), cache_dir()) == (tmp_path / "state", tmp_path / "cache")
