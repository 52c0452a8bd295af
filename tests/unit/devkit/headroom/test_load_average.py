import os

import pytest

from devkit.headroom.load_average import busy_sentence


@pytest.mark.parametrize(
    ("tasks", "sentence"), [(3.9, ""), (4.0, ""), (17.6, "the machine is busy: 18 tasks for 2 cores")]
)
def test_more_than_two_tasks_for_each_core(monkeypatch: pytest.MonkeyPatch, tasks: float, sentence: str) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert busy_sentence(lambda: (tasks, 1.0, 1.0)) == sentence
