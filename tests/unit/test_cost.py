"""What CI costs is said for each part, and a part beyond its bound is a failure."""

import os
from pathlib import Path

import psutil
import pytest

from tests import cost
from tests.cost import Cost, Starts, problems

PART = Cost(
    part="more", whole=True, wall_s=900, processor_s=1600, loop_ms=8, starts={"job": 35, "broker": 26}, exit_code=0
)
SPARK = ["/java/bin/java", "-cp", "jars", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell"]


@pytest.mark.parametrize(
    ("changed", "recorded", "found"),
    [
        ({}, {"more": 200_000}, []),
        ({}, {"more": 166_667}, []),
        ({}, {"more": 160_000}, ["more: 200,000 loops, 1.25 of the 160,000 recorded; bound 1.2"]),
        ({}, {}, ["more: no loops are recorded in costs.json"]),
        ({"loop_ms": 4.0}, {"more": 200_000}, ["more: 400,000 loops, 2.00 of the 200,000 recorded; bound 1.2"]),
        ({"starts": {"job": 36}}, {"more": 200_000}, ["36 starts of a job's JVM, bound 35"]),
        ({"starts": {"broker": 27}}, {"more": 200_000}, ["27 starts of a broker's JVM, bound 26"]),
        ({"starts": {"job": 99}, "whole": False}, {"more": 1}, []),
    ],
    ids=["as recorded", "at the bound", "beyond it", "never recorded", "a faster machine", "jobs", "brokers", "a part"],
)
def test_what_is_beyond_its_bound(changed: dict[str, object], recorded: dict[str, int], found: list[str]) -> None:
    assert problems([PART.model_copy(update=changed)], recorded) == found


def test_starts_of_all_parts_count_together() -> None:
    test = PART.model_copy(update={"part": "test", "starts": {"job": 1}})
    assert problems([PART, test], {"more": 200_000, "test": 200_000}) == ["36 starts of a job's JVM, bound 35"]


class Process(psutil.Process):
    """One with a command line of the test's."""

    def __init__(self, pid: int, words: list[str] | None, created: float = 1.0) -> None:
        super().__init__()
        self._words, self._created = words, created
        self._pid = pid

    def cmdline(self) -> list[str]:
        if self._words is None:
            raise psutil.NoSuchProcess(self._pid)
        return self._words

    def create_time(self) -> float:
        return self._created


def test_a_jvm_counts_once_however_often_it_is_seen() -> None:
    starts = Starts()
    kafka = ["java", "kafka.Kafka", "server.properties"]
    launcher = ["/bin/bash", "spark-submit", "org.apache.spark.deploy.SparkSubmit"]
    gone, shell = Process(4, None), Process(5, launcher)
    prints = Process(
        6, ["java", "-cp", "jars", "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit"]
    )
    for _ in range(3):
        starts.check([gone, shell, prints, Process(1, SPARK), Process(2, kafka), Process(3, ["java", "Other"])])
    assert starts.counts == {"job": 1, "broker": 1}
    starts.check([Process(5, SPARK), Process(1, SPARK, created=2.0)])  # what the shell became, and a used process id
    assert starts.counts == {"job": 3, "broker": 1}


def test_the_costs_are_judged_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cost, "COSTS", tmp_path / "costs.jsonl")
    monkeypatch.setattr(cost, "RECORDED", tmp_path / "costs.json")
    parts = [PART, PART.model_copy(update={"part": "lint", "whole": False, "starts": {}})]
    cost.COSTS.write_text("".join(f"{part.model_dump_json()}\n" for part in parts))
    assert cost.main(["--judge"]) == 1, "nothing is recorded"
    assert cost.main(["--record"]) == 0
    assert cost.main(["--judge"]) == 0
    cost.COSTS.write_text(PART.model_copy(update={"processor_s": 1, "exit_code": 1}).model_dump_json() + os.linesep)
    assert cost.main(["--record"]) == 0, "a part that failed is not recorded"
    cost.COSTS.write_text(PART.model_copy(update={"processor_s": 2400}).model_dump_json() + os.linesep)
    capsys.readouterr()
    assert cost.main(["--judge"]) == 1
    printed = capsys.readouterr().out
    assert "(1.50 of the last recorded)" in printed
    assert "beyond its bound: more: 300,000 loops, 1.50 of the 200,000 recorded; bound 1.2" in printed
