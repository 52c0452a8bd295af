"""The measured figures of an arm, for `result.json` and the expectations."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from devkit.container.kill import ContainerFigures


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def answers_text(by_status: Mapping[str, int]) -> str:
    """`200: 204, no answer: 10`: requests by the status of their answer, `none` for those without one."""
    return ", ".join(
        f"{'no answer' if status == 'none' else status}: {count:,}" for status, count in sorted(by_status.items())
    )


class Answers(_Model):
    """Requests that ended, by the status of their answer; `none` are those that ended without one.

    An answer that is not a 200, and a request without an answer, count against the `success_rate`.
    """

    by_status: dict[str, int]
    success_rate: float | None

    @classmethod
    def counted(cls, by_status: dict[str, int]) -> "Answers":
        """The rate is None where no request ended."""
        present = {status: count for status, count in sorted(by_status.items()) if count}
        total = sum(present.values())
        return cls(by_status=present, success_rate=round(present.get("200", 0) / total, 4) if total else None)


class FlatCommit(_Model):
    """The longest time in which the committed offset stood still although there was something to commit.

    It begins with the first query of the arm at the earliest, and goes on over restarts. `from_s` counts from the
    arm's start, `committed` of `source_end` is where it stood. The cores are CPU seconds a second that the pipeline
    used in it while a query ran; both are None when none did for the length of a sample. `at_most_s` is how long it may
    have been where it was not observable for a while (a part stood still under a fault), else None.
    """

    duration_s: float
    from_s: float
    committed: int
    source_end: int
    median_cpu_cores: float | None
    mean_cpu_cores: float | None
    at_most_s: float | None = None


class LatencyFigures(_Model):
    """End-to-end seconds: from an event's append to the source to the append of its first output or error event.

    `emitted` events were, `waiting` ones were not by the arm's end, and count as later than all others. A percentile is
    None where too many wait for it to be known.
    """

    emitted: int
    waiting: int
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None


class Figures(_Model):
    """Everything is of the time in which the pipeline was kept running; None is what could not be measured.

    `amplification` is requests for each distinct fetch. `abandoned_share` is the share of the upstream's finished
    parses whose client was gone. `answers_after_fault` are of the time from the end of the
    last fault that has one to the end of the traffic. `deferred_ever` counts source events that ever stood in
    the deferral topic, `over_budget` those among them whose batch was over its budget. `healthy_latency` is of
    events whose page no rule that picks pages matched. `connections` carried a request to the upstream, which had
    no place for `connections_refused` of them and reset them. `container` is None where the processes had no limits.
    """

    requests: int
    fetches: int
    max_attempt: int
    amplification: float | None
    answers: Answers
    answers_after_fault: Answers | None
    parses: int
    abandoned: int
    abandoned_share: float | None
    peak_queue: int
    flat_commit: FlatCommit | None
    deferred_ever: int
    over_budget: int = 0
    latency: LatencyFigures
    healthy_latency: LatencyFigures | None
    peak_memory_bytes: int
    mean_cpu_cores: float | None
    container: ContainerFigures | None = None
    connections: int = 0
    connections_refused: int = 0


@dataclass(frozen=True)
class CheckpointSize:
    """Of all files of a checkpoint together."""

    bytes: int
    files: int
