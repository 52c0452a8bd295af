from pathlib import Path

import pytest

from devkit.jvm.cache import CACHE_VARIABLE, cache_dir, state_dir
from devkit.jvm.class_cache import ClassCache


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


def output_of(options: tuple[str, ...]) -> Path:
    (flag,) = [option for option in options if option.startswith("-XX:AOTCacheOutput=")]
    return Path(flag.partition("=")[2])


def train(cache: ClassCache) -> None:
    with cache.train() as training:
        assert training is not None
        output_of(training.options()).write_bytes(b"classes")
        training.keep()


def test_what_a_training_keeps_is_used_afterwards() -> None:
    cache = ClassCache(["java 25", "a.jar"])
    with cache.train() as training:
        assert training is not None
        assert (training.is_written, cache.use()) == (False, ())
        output_of(training.options()).write_bytes(b"classes")
        assert training.is_written
        assert not cache.exists, "a cache that is being written must not be used"
        training.keep()
    assert cache.exists
    assert any(option.startswith("-XX:AOTCache=") for option in cache.use())


def test_what_a_training_does_not_keep_is_dropped(cache_home: Path) -> None:
    cache = ClassCache(["java 25", "a.jar"])
    with cache.train() as training:
        assert training is not None
        output = output_of(training.options())
        output.write_bytes(b"half")
        output.with_name(f"{output.name}.config").write_bytes(b"half")
    assert not cache.exists
    assert [path.suffix for path in (cache_home / "aot").iterdir()] == [".lock"]


@pytest.mark.parametrize("damage", [b"", b"clAsses", b"class"])
def test_a_damaged_cache_counts_as_none_and_is_wanted_again_once_used(cache_home: Path, damage: bytes) -> None:
    cache = ClassCache(["java 25", "a.jar"])
    for _ in range(2):  # the second training mends it
        assert cache.is_wanted
        train(cache)
        assert (cache.exists, cache.is_wanted) == (True, False)
        (file,) = (cache_home / "aot").glob("*.aot")
        file.write_bytes(damage)
        assert not cache.exists
        assert cache.use() == ()
    assert cache.is_wanted


def test_two_do_not_train_at_once() -> None:
    identity = ["java 25", "a.jar"]
    with ClassCache(identity).train() as first, ClassCache(identity).train() as second:
        assert first is not None
        assert second is None
    with ClassCache(identity).train() as third:
        assert third is not None


def test_another_runtime_or_classpath_has_another_cache() -> None:
    train(ClassCache(["java 25", "a.jar"]))
    assert not ClassCache(["java 26", "a.jar"]).exists
    assert not ClassCache(["java 25", "b.jar"]).exists


def test_a_failure_is_kept_until_something_is_another_version() -> None:
    cache = ClassCache(["java 25", "a.jar"])
    assert cache.failure is None
    cache.keep_failure("waited 180 s in vain")
    assert ClassCache(["java 25", "a.jar"]).failure == "waited 180 s in vain"
    assert not cache.is_wanted
    assert ClassCache(["java 26", "a.jar"]).is_wanted
    cache.forget_failure()
    assert cache.is_wanted


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
