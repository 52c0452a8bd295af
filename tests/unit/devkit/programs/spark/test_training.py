"""When Spark's class cache is made, and what becomes of a training that does not come to its end; that Spark starts
faster afterwards shows in a run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError, WaitTimeoutError
from devkit.guardian import Guardian
from devkit.jvm.cache import CACHE_VARIABLE
from devkit.jvm.class_cache import ClassCache, Training
from devkit.programs.spark import training
from devkit.programs.spark.training import train_after_verdict, train_now, training_config
from devkit.stack.stack import Stack

STACK = cast(
    Stack,
    SimpleNamespace(
        kafka=SimpleNamespace(bootstrap="127.0.0.1:1"),
        object_store=SimpleNamespace(endpoint="http://127.0.0.1:1"),
        mock_api=SimpleNamespace(endpoint="http://127.0.0.1:1"),
        prefix="cafe/",
    ),
)


def named(value: Any) -> set[str]:
    """All that a configuration has below a key for a topic; to that of late events nothing is written by default, and
    there may be none for failed fetches.
    """
    if not isinstance(value, dict):
        return set()
    own = {text for key, text in value.items() if key.endswith("topic") and key != "lapsed_topic" and text is not None}
    return own.union(*(named(below) for below in value.values()))


def partial_of(made: Training) -> Path:
    (flag,) = [option for option in made.options() if option.startswith("-XX:AOTCacheOutput=")]
    return Path(flag.partition("=")[2])


class Machine:
    """A training run without Kafka and Spark: it writes half of the cache, comes to `end`, and writes the rest."""

    def __init__(self) -> None:
        self.end: Callable[[], None] = lambda: None
        self.runs = 0
        self.printed: list[str] = []
        self.guarded = False

    @contextmanager
    def guardian(self) -> Iterator[Guardian]:
        self.guarded = True
        try:
            yield cast(Guardian, SimpleNamespace())
        finally:
            self.guarded = False

    def train(self, _guardian: Guardian, _stack: Stack, _logs: Path, made: Training) -> None:
        assert self.guarded
        self.runs += 1
        partial_of(made).write_bytes(b"half")
        self.end()
        partial_of(made).write_bytes(b"classes")

    def after_verdict(self) -> None:
        train_after_verdict(self.printed.append)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv("DEVKIT_NO_TRAINING", raising=False)
    machine, cache = Machine(), ClassCache(["java 25", "a.jar"])
    monkeypatch.setattr(training, "class_cache", lambda: cache)
    monkeypatch.setattr(training, "Guardian", machine.guardian)
    monkeypatch.setattr(training, "start_embedded", lambda _guardian, _logs: STACK)
    monkeypatch.setattr(training, "_train", machine.train)
    return machine


def there(tmp_path: Path) -> set[str]:
    return {path.suffix for path in (tmp_path / "aot").iterdir()}


def raising(error: BaseException) -> Callable[[], None]:
    def end() -> None:
        raise error

    return end


def test_the_first_verdict_is_followed_by_a_training_and_no_other_is(machine: Machine, tmp_path: Path) -> None:
    machine.after_verdict()
    (line,) = machine.printed
    assert "the next run starts faster. Ctrl-C skips it this time" in line
    assert "DEVKIT_NO_TRAINING=1 skips it always" in line
    assert there(tmp_path) == {".aot", ".crc32", ".lock"}
    machine.after_verdict()
    assert (machine.runs, len(machine.printed)) == (1, 1)


def test_one_that_failed_is_told_with_its_reason_and_not_tried_again(machine: Machine, tmp_path: Path) -> None:
    machine.end = raising(WaitTimeoutError("waited 180 s for the training run's batch to be written, in vain"))
    machine.after_verdict()
    assert "waited 180 s for the training run's batch" in machine.printed[-1]
    assert "devkit doctor --train" in machine.printed[-1]
    assert there(tmp_path) == {".failed", ".lock"}
    assert not machine.guarded
    machine.after_verdict()
    assert (machine.runs, len(machine.printed)) == (1, 2)


def test_it_is_left_out_where_the_environment_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVKIT_NO_TRAINING", "1")
    machine.after_verdict()
    assert (machine.runs, machine.printed) == (0, [])


def test_what_is_no_error_of_the_kit_costs_no_verdict_either(machine: Machine) -> None:
    machine.end = raising(RuntimeError("KafkaTimeoutError"))
    machine.after_verdict()
    assert "KafkaTimeoutError" in machine.printed[-1]


def test_an_interrupted_one_leaves_nothing_and_is_tried_again(machine: Machine, tmp_path: Path) -> None:
    machine.end = raising(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        machine.after_verdict()
    assert not machine.guarded, "its processes are ended"
    assert there(tmp_path) == {".lock"}
    machine.end = lambda: None
    machine.after_verdict()
    assert machine.runs == 2
    assert there(tmp_path) == {".aot", ".crc32", ".lock"}


def test_a_person_has_it_tried_again(machine: Machine, tmp_path: Path) -> None:
    machine.end = raising(StackError("the JVM wrote no class cache"))
    with pytest.raises(StackError):
        train_now()
    assert there(tmp_path) == {".failed", ".lock"}
    machine.end = lambda: None
    assert train_now()
    assert there(tmp_path) == {".aot", ".crc32", ".lock"}


def test_beside_the_training_of_another_run_nothing_is_started(machine: Machine) -> None:
    with training.class_cache().train():
        assert not train_now()
    assert machine.runs == 0


def test_the_topics_it_makes_are_those_it_uses() -> None:
    config = training_config(STACK)
    made = training._topics(config)
    assert set(made) == named(config.model_dump())
    assert made["devkit.training.deferred"][1]["cleanup.policy"] == "compact", "one that the pipeline takes"
