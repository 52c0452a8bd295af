"""The faults that a soak may draw, in lanes: those of one act on the same part, one after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, Final

_LONG_S: Final = 8.0
_BROKERS: Final = ("kafka-1", "kafka-2", "kafka-3")


@dataclass(frozen=True)
class Choice:
    """A fault that a lane may draw. It lasts for `at_most_s`, and nothing else of it begins for `recovers_s` after
    it, both in seconds.
    """

    name: str
    do: Callable[[Random], dict[str, dict[str, Any]]]
    lasts: bool = True
    recovers_s: float = 5.0
    at_most_s: float = _LONG_S


def _of(fault: str, **parameters: Any) -> Callable[[Random], dict[str, dict[str, Any]]]:
    """The fault with these parameters, of which each tuple is one to choose from."""
    return lambda random: {
        fault: {key: random.choice(value) if isinstance(value, tuple) else value for key, value in parameters.items()}
    }


Lanes = Mapping[str, Sequence[Choice]]


# A broker that was ended takes ten to twenty seconds until it is in sync again. One broker at a time is away: with two
# of three gone nothing is written, which is an outage of Kafka and has tests of its own.
def _shared(*moved: Choice) -> Lanes:
    """Of whatever runs on the stack; `moved` are faults of topics that only some traffic has."""
    return {
        "brokers": (
            Choice("a broker stands still", _of("pause", part=_BROKERS)),
            Choice("a broker dies", _of("kill", part=_BROKERS), recovers_s=25, at_most_s=4),
            Choice("a broker is restarted", _of("restart", part=_BROKERS), lasts=False, recovers_s=25),
            *moved,
            Choice(
                "a broker holds clients back", _of("client_quota", produce=("200KiB", "1MiB"), fetch=("200KiB", "1MiB"))
            ),
        ),
        "network of Kafka": (
            Choice("a broker is far", _of("network_latency", part=_BROKERS, time=("50ms", "300ms"), jitter="20ms")),
            Choice("a broker refuses", _of("network_cut", part=_BROKERS), at_most_s=4),
            Choice("a broker is not reached", _of("network_blackhole", part=_BROKERS), at_most_s=4),
            Choice("connections to a broker are reset", _of("network_reset", part=_BROKERS), at_most_s=3),
            Choice(
                "the line to a broker is narrow", _of("network_bandwidth", part=_BROKERS, rate=("128KiB", "512KiB"))
            ),
        ),
        # Those that clients try again. A lost answer is of a write that the broker has.
        "Kafka's errors": (
            Choice(
                "acknowledgements are lost",
                _of("kafka_error", part=_BROKERS, error="lost_answer", api="produce", times=(1, 2)),
            ),
            Choice(
                "too few replicas are in sync",
                _of(
                    "kafka_error",
                    part=_BROKERS,
                    error=("not_enough_replicas", "not_enough_replicas_after_append"),
                    api="produce",
                ),
                at_most_s=4,
            ),
            Choice(
                "a leader is said to have moved",
                _of(
                    "kafka_error",
                    part=_BROKERS,
                    error=("not_leader_or_follower", "fenced_leader_epoch"),
                    api=("fetch", "list_offsets"),
                    times=(1, 3),
                ),
            ),
        ),
        "store": (
            Choice("the store refuses", _of("store_error", status=(500, 503), share=("30%", "100%")), at_most_s=4),
            Choice("the store is slow", _of("store_slow", before=("200ms", "1s"))),
            Choice("the store is not reached", _of("network_cut", part="object-store"), at_most_s=4),
        ),
        "upstream": (
            Choice("the upstream refuses", _of("network_cut", part="mock-api")),
            Choice("the upstream is far", _of("network_latency", part="mock-api", time=("100ms", "1s"))),
            Choice("connections to the upstream are reset", _of("network_reset", part="mock-api"), at_most_s=3),
            Choice("the upstream is not reached", _of("network_blackhole", part="mock-api")),
        ),
        "machine": (Choice("other work on the cores", _of("cpu_load", processes=(1, 2))),),
    }


JOB_LANES: Final[Lanes] = MappingProxyType(
    {
        **_shared(
            Choice(
                "another broker leads",
                _of("move_leader", topic=("source", "output"), partition=(0, 1, 2)),
                lasts=False,
            )
        ),
        "program": (
            Choice("a worker dies", _of("kill_process", process="worker"), lasts=False, recovers_s=30),
            Choice("the driver dies", _of("kill_process", process="driver"), lasts=False, recovers_s=30),
            Choice(
                "the driver is asked to stop",
                _of("kill_process", process="driver", signal="TERM"),
                lasts=False,
                recovers_s=40,
            ),
            Choice("an executor dies", _of("kill_process", process="executor"), lasts=False, recovers_s=30),
            Choice("the driver stands still", _of("stop_process", process="driver"), at_most_s=4),
            Choice("a worker stands still", _of("stop_process", process="worker"), at_most_s=4),
        ),
    }
)
"""Of one job on Spark."""


def _of_program(name: str) -> Sequence[Choice]:
    """Faults of one of several programs, on the process that began first."""
    kill = {"process": "driver", "program": name}
    return (
        Choice(f"{name} dies", _of("kill_process", **kill), lasts=False, recovers_s=40),
        Choice(f"{name} is asked to stop", _of("kill_process", signal="TERM", **kill), lasts=False, recovers_s=40),
        Choice(f"{name} stands still", _of("stop_process", **kill), at_most_s=4),
    )


UPDATER_LANES: Final[Lanes] = MappingProxyType(
    {
        **_shared(),
        "triple store": (
            Choice("the triple store stands still", _of("pause", part="triple-store")),
            Choice("the triple store dies", _of("kill", part="triple-store"), at_most_s=4),
            Choice("the triple store is restarted", _of("restart", part="triple-store"), lasts=False),
        ),
        "network of the triple store": (
            Choice("the triple store is far", _of("network_latency", part="triple-store", time=("50ms", "300ms"))),
            Choice("the triple store refuses", _of("network_cut", part="triple-store"), at_most_s=4),
            Choice("the triple store is not reached", _of("network_blackhole", part="triple-store"), at_most_s=4),
            Choice("connections to the triple store are reset", _of("network_reset", part="triple-store"), at_most_s=3),
        ),
        **{name: _of_program(name) for name in ("decide", "resolve", "apply")},
    }
)
"""Of the updater's three programs. Restarts of different programs may coincide."""
