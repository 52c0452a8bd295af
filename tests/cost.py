"""What a part of CI costs: `python -m tests.cost NAME [--whole] COMMAND …` runs it and adds a line to `COSTS`.

Processor seconds depend on the machine, by a factor of two and more, and on what else it does. So they are divided by
those of a fixed loop, timed every few seconds meanwhile. On Linux, processes whose parent has ended count too, as this
one is their subreaper. `--judge` in place of a name compares the lines with the bounds and with what was recorded;
`--record` records them.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import psutil
from pydantic import BaseModel, ConfigDict, TypeAdapter

from devkit.guardian.processes import become_subreaper

TOP: Final = Path(__file__).parents[1]
COSTS: Final = TOP / ".ci" / "costs.jsonl"
RECORDED: Final = TOP / ".ci" / "costs.json"
MOST_LOOPS: Final = 1.2
"""Of the loops that were recorded for a part."""
MOST_STARTS: Final = {"job": 35, "broker": 26}
"""In a whole run: JVMs of jobs, and brokers."""
_KINDS = {"org.apache.spark.deploy.SparkSubmit": "job", "kafka.Kafka": "broker"}
_LAUNCHER = "org.apache.spark.launcher.Main"
_LOOK_S = 0.5
_LOOKS_PER_LOOP = 10


class Cost(BaseModel):
    """Of one part. `loop_ms` is the median of the loop's processor time, `starts` are by kind of JVM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    whole: bool
    wall_s: float
    processor_s: float
    loop_ms: float
    starts: Mapping[str, int]
    exit_code: int

    @property
    def loops(self) -> int:
        """Processor time in loops: the same work is the same number on any machine, nearly."""
        return round(self.processor_s * 1000 / self.loop_ms)

    def __str__(self) -> str:
        starts = ", ".join(f"{self.starts.get(kind, 0)} {kind}s" for kind in MOST_STARTS)
        return (
            f"{self.part:8} {self.wall_s:6.0f} s  {self.processor_s:6.0f} processor s  {self.loops:7,} loops of "
            f"{self.loop_ms:.2f} ms  JVMs started: {starts}"
        )


class Starts:
    """JVMs that began, each counted once, by their command lines."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[int, float], str] = {}

    def check(self, processes: Iterable[psutil.Process]) -> None:
        """To be called often enough to see every JVM."""
        for process in processes:
            try:
                words = process.cmdline()
                kind = next((kind for name, kind in _KINDS.items() if name in words), None)
                # Neither the shell that becomes the JVM, nor the JVM that prints its command line.
                if kind is not None and not words[0].endswith("sh") and _LAUNCHER not in words:
                    self._kinds[process.pid, process.create_time()] = kind
            except psutil.Error:
                continue

    @property
    def counts(self) -> dict[str, int]:
        """By kind."""
        return dict(Counter(self._kinds.values()))


def loop_ms() -> float:
    """Processor time of a fixed piece of work, about 10 ms, in milliseconds."""
    began = time.thread_time()
    pages = [{"id": number, "title": f"Page {number}", "links": [number] * 8} for number in range(2000)]
    text = json.dumps(pages).encode()
    hashlib.sha256(zlib.decompress(zlib.compress(text))).digest()
    assert len(json.loads(text)) == len(pages)
    return (time.thread_time() - began) * 1000


def measure(part: str, command: Sequence[str], *, whole: bool = False) -> Cost:
    """Runs the command to its end."""
    become_subreaper()
    before = _children_s()
    began = time.monotonic()
    process = subprocess.Popen(command)
    starts, loops, over = Starts(), [loop_ms()], threading.Event()

    def sample() -> None:
        this, looks = psutil.Process(), 0
        while not over.wait(_LOOK_S):
            starts.check(this.children(recursive=True))
            looks += 1
            if looks % _LOOKS_PER_LOOP == 0:
                loops.append(loop_ms())

    watch = threading.Thread(target=sample, daemon=True)
    watch.start()
    # Orphans are this process's children too, and count once they are waited for.
    code: int | None = None
    while code is None:
        pid, status = os.wait()
        if pid == process.pid:
            code = os.waitstatus_to_exitcode(status)
    over.set()
    watch.join()
    return Cost(
        part=part,
        whole=whole,
        wall_s=time.monotonic() - began,
        processor_s=_children_s() - before,
        loop_ms=median(loops),
        starts=starts.counts,
        exit_code=code,
    )


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def problems(costs: Iterable[Cost], recorded: Mapping[str, int]) -> list[str]:
    """What is beyond its bound, or has none. Only a whole run is compared."""
    whole = [cost for cost in costs if cost.whole]
    found = [
        f"{cost.part}: {cost.loops:,} loops, {cost.loops / before:.2f} of the {before:,} recorded; bound {MOST_LOOPS}"
        for cost in whole
        if (before := recorded.get(cost.part)) and cost.loops > MOST_LOOPS * before
    ]
    found += [f"{cost.part}: no loops are recorded in {RECORDED.name}" for cost in whole if cost.part not in recorded]
    for kind, most in MOST_STARTS.items():
        started = sum(cost.starts.get(kind, 0) for cost in whole)
        if started > most:
            found.append(f"{started} starts of a {kind}'s JVM, bound {most}")
    return found


def judge() -> int:
    """Prints what the parts cost; 1 where one is beyond its bound."""
    costs = [Cost.model_validate_json(line) for line in COSTS.read_text().splitlines()]
    recorded = _recorded()
    for cost in costs:
        before = recorded.get(cost.part) if cost.whole else None
        print(f"{cost}{f'  ({cost.loops / before:.2f} of the last recorded)' if before else ''}")
    found = problems(costs, recorded)
    for problem in found:
        print(f"beyond its bound: {problem}")
    return 1 if found else 0


def record() -> int:
    """Takes the loops of whole parts that passed as those that later ones are compared with."""
    costs = [Cost.model_validate_json(line) for line in COSTS.read_text().splitlines()]
    passed = {cost.part: cost.loops for cost in costs if cost.whole and cost.exit_code == 0}
    RECORDED.write_text(json.dumps(_recorded() | passed, indent=2) + "\n")
    return 0


def _recorded() -> dict[str, int]:
    return TypeAdapter(dict[str, int]).validate_json(RECORDED.read_bytes()) if RECORDED.exists() else {}


def main(arguments: Sequence[str]) -> int:
    if arguments in (["--judge"], ["--record"]):
        return judge() if arguments == ["--judge"] else record()
    part, *command = arguments
    whole = command[0] == "--whole"
    cost = measure(part, command[1:] if whole else command, whole=whole)
    print(f"cost: {cost}", flush=True)
    with COSTS.open("a") as lines:
        lines.write(cost.model_dump_json() + "\n")
    return cost.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
