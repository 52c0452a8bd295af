import json
import threading
from itertools import count
from pathlib import Path
from typing import Any

from devkit.observe.timeline import Timeline


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_says_when_what_and_where(tmp_path: Path) -> None:
    moments = iter([100.0, 101.23456, 102.5])
    with Timeline(tmp_path / "events.jsonl", clock=lambda: next(moments)) as timeline:
        timeline.add("run", seed=7)
        timeline.add("sample", arm="incident", lag=3, faults={"huge page": 2})
    assert lines(tmp_path / "events.jsonl") == [
        {"t_s": 1.235, "kind": "run", "seed": 7},
        {"t_s": 2.5, "kind": "sample", "arm": "incident", "lag": 3, "faults": {"huge page": 2}},
    ]


def test_a_line_is_on_disk_at_once(tmp_path: Path) -> None:
    with Timeline(tmp_path / "events.jsonl") as timeline:
        timeline.add("run")
        assert [line["kind"] for line in lines(tmp_path / "events.jsonl")] == ["run"]


def test_text_of_any_kind_is_one_line(tmp_path: Path) -> None:
    with Timeline(tmp_path / "events.jsonl") as timeline:
        timeline.add("failed", error="first\nsecond → «третий»")
    assert [line["error"] for line in lines(tmp_path / "events.jsonl")] == ["first\nsecond → «третий»"]


def test_what_was_there_stays(tmp_path: Path) -> None:
    for kind in ("one", "two"):
        with Timeline(tmp_path / "events.jsonl") as timeline:
            timeline.add(kind)
    assert [line["kind"] for line in lines(tmp_path / "events.jsonl")] == ["one", "two"]


def test_lines_of_several_threads_are_whole_and_in_the_order_of_their_times(tmp_path: Path) -> None:
    ticks = count()
    with Timeline(tmp_path / "events.jsonl", clock=lambda: float(next(ticks))) as timeline:
        together = threading.Barrier(4)

        def work(name: str) -> None:
            together.wait(30)
            for number in range(50):
                timeline.add(name, number=number)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = lines(tmp_path / "events.jsonl")
    assert [line["t_s"] for line in written] == [float(number) for number in range(1, 201)]
    for name in "abcd":
        assert [line["number"] for line in written if line["kind"] == name] == list(range(50))
