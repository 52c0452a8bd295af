from pathlib import Path

import pytest

from devkit.jvm.cache import cache_dir


def test_the_variable_names_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "here"))
    assert cache_dir() == tmp_path / "here"


def test_a_relative_name_is_made_absolute_and_a_tilde_is_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEVKIT_CACHE", "here")
    assert cache_dir() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DEVKIT_CACHE", "~/here")
    assert cache_dir() == tmp_path / "home" / "here"


def test_without_it_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir().is_relative_to(tmp_path)
    assert cache_dir().name == "enrichment-devkit"
