"""The training's topics; that Spark starts faster afterwards shows in a run."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.programs.spark import training
from devkit.programs.spark.training import training_config
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


class Topics:
    def __init__(self) -> None:
        self.there: dict[str, tuple[int, dict[str, str]]] = {}
        self.removable = True

    def recreate(self, _bootstrap: str, topics: dict[str, tuple[int, dict[str, str]]]) -> None:
        self.there |= topics

    def remove(self, _bootstrap: str, topics: Iterable[str]) -> None:
        if not self.removable:
            raise StackError("Kafka does not answer")
        for topic in topics:
            del self.there[topic]


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Topics:
    fake = Topics()
    monkeypatch.setattr(training, "recreate_topics", fake.recreate)
    monkeypatch.setattr(training, "remove_topics", fake.remove)
    return fake


def named(value: Any) -> set[str]:
    """All that a configuration has below a key for a topic."""
    if not isinstance(value, dict):
        return set()
    own = {text for key, text in value.items() if key.endswith("topic")}
    return own.union(*(named(below) for below in value.values()))


def test_it_touches_no_topic_but_its_own(topics: Topics) -> None:
    config = training_config(STACK)
    with training._topics_of(config):
        made = set(topics.there)
    assert (
        made == named(config.model_dump()) == {f"devkit.training.{it}" for it in ("source", "out", "error", "deferred")}
    )
    assert topics.there == {}


def test_the_deferral_topic_is_one_that_the_pipeline_takes(topics: Topics) -> None:
    with training._topics_of(training_config(STACK)):
        assert topics.there["devkit.training.deferred"][1]["cleanup.policy"] == "compact"


def test_what_cannot_be_removed_does_not_hide_the_error(topics: Topics) -> None:
    topics.removable = False
    with pytest.raises(StackError, match="ended early"), training._topics_of(training_config(STACK)):
        raise StackError("the training run ended early")


def test_its_objects_are_below_the_runs_prefix() -> None:
    assert training_config(STACK).checkpoint == "s3a://checkpoints/cafe/training"
