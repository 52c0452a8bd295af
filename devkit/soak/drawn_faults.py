"""The faults of a soak and their times, drawn from a seed.

Faults are drawn in lanes. Those of a lane act on the same part, one after the other, with time to recover between two.
Lanes are independent, so a slow store, a killed driver and a paused broker may coincide. All faults end before the last
tenth of the traffic, in which the job has to recover.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

STARTS: Final = timedelta(seconds=40)
"""For a program and its first batch on an idle machine. Before it there is no process that could be killed."""
LEAST: Final = timedelta(minutes=1)
"""Of traffic, or there is no time for a fault between start and end."""
_HEALTHY: Final = 0.9
_SHORT, _LONG = 1.0, 8.0
_BROKERS: Final = ("kafka-1", "kafka-2", "kafka-3")


@dataclass(frozen=True)
class DrawnFault:
    """A fault of the timeline with its time from the arm's start, in whole tenths of a second.

    `lasts` is None for one that is over at once.
    """

    name: str
    do: dict[str, dict[str, Any]]
    at: timedelta
    lasts: timedelta | None


@dataclass(frozen=True)
class _Choice:
    """A fault that a lane may draw. `recovers` is for how long at least nothing else of the lane begins after it."""

    name: str
    do: Callable[[Random], dict[str, dict[str, Any]]]
    lasts: bool = True
    recovers_s: float = 5.0
    at_most_s: float = _LONG


def _of(fault: str, **parameters: Any) -> Callable[[Random], dict[str, dict[str, Any]]]:
    """The fault with these parameters, of which each tuple is one to choose from."""
    return lambda random: {
        fault: {key: random.choice(value) if isinstance(value, tuple) else value for key, value in parameters.items()}
    }


# A broker that was ended takes ten to twenty seconds until it is in sync again. One broker at a time is away: with two
# of three gone nothing is written, which is an outage of Kafka and has tests of its own.
_LANES: Final[dict[str, tuple[_Choice, ...]]] = {
    "brokers": (
        _Choice("a broker stands still", _of("pause", part=_BROKERS)),
        _Choice("a broker dies", _of("kill", part=_BROKERS), recovers_s=25, at_most_s=4),
        _Choice("a broker is restarted", _of("restart", part=_BROKERS), lasts=False, recovers_s=25),
        _Choice(
            "another broker leads", _of("move_leader", topic=("source", "output"), partition=(0, 1, 2)), lasts=False
        ),
        _Choice(
            "a broker holds clients back", _of("client_quota", produce=("200KiB", "1MiB"), fetch=("200KiB", "1MiB"))
        ),
    ),
    "network of Kafka": (
        _Choice("a broker is far", _of("network_latency", part=_BROKERS, time=("50ms", "300ms"), jitter="20ms")),
        _Choice("a broker refuses", _of("network_cut", part=_BROKERS), at_most_s=4),
        _Choice("a broker is not reached", _of("network_blackhole", part=_BROKERS), at_most_s=4),
        _Choice("connections to a broker are reset", _of("network_reset", part=_BROKERS), at_most_s=3),
        _Choice("the line to a broker is narrow", _of("network_bandwidth", part=_BROKERS, rate=("128KiB", "512KiB"))),
    ),
    "store": (
        _Choice("the store refuses", _of("store_error", status=(500, 503), share=("30%", "100%")), at_most_s=4),
        _Choice("the store is slow", _of("store_slow", before=("200ms", "1s"))),
        _Choice("the store is not reached", _of("network_cut", part="object-store"), at_most_s=4),
    ),
    "upstream": (
        _Choice("the upstream refuses", _of("network_cut", part="mock-api")),
        _Choice("the upstream is far", _of("network_latency", part="mock-api", time=("100ms", "1s"))),
        _Choice("connections to the upstream are reset", _of("network_reset", part="mock-api"), at_most_s=3),
        _Choice("the upstream is not reached", _of("network_blackhole", part="mock-api")),
    ),
    "program": (
        _Choice("a worker dies", _of("kill_process", process="worker"), lasts=False, recovers_s=30),
        _Choice("the driver dies", _of("kill_process", process="driver"), lasts=False, recovers_s=30),
        _Choice(
            "the driver is asked to stop",
            _of("kill_process", process="driver", signal="TERM"),
            lasts=False,
            recovers_s=40,
        ),
        _Choice("an executor dies", _of("kill_process", process="executor"), lasts=False, recovers_s=30),
        _Choice("the driver stands still", _of("stop_process", process="driver"), at_most_s=4),
        _Choice("a worker stands still", _of("stop_process", process="worker"), at_most_s=4),
    ),
    "machine": (_Choice("other work on the cores", _of("cpu_load", processes=(1, 2))),),
}


def draw_faults(seed: int, length: timedelta) -> tuple[DrawnFault, ...]:
    """The faults of a soak under `length` of traffic, in the order of their time: the same for the same two values."""
    until_s = length.total_seconds() * _HEALTHY
    # A generator for each lane: a new kind of fault in one leaves the others as they were.
    drawn = [fault for lane, choices in _LANES.items() for fault in _lane(Random(f"{seed} {lane}"), choices, until_s)]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.name)))


def _lane(random: Random, choices: Sequence[_Choice], until_s: float) -> Iterator[DrawnFault]:
    at_s, drawn = STARTS.total_seconds() + random.uniform(0, 15), 0
    while True:
        choice = random.choice(choices)
        lasts_s = random.uniform(_SHORT, choice.at_most_s) if choice.lasts else 0.0
        if at_s + lasts_s > until_s:
            return
        drawn += 1
        lasts = timedelta(seconds=round(lasts_s, 1)) if choice.lasts else None
        yield DrawnFault(f"{choice.name} ({drawn})", choice.do(random), timedelta(seconds=round(at_s, 1)), lasts)
        at_s += lasts_s + choice.recovers_s + random.expovariate(1 / 10)
