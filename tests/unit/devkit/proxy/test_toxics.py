"""The toxics as pure functions: when a chunk may go on."""

from datetime import timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.proxy.proof import ProxyProof
from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.proxy.toxics.registry import TOXICS, Do
from devkit.proxy.toxics.toxic import Chunk, StreamEffect, ToxicContext

DO = TypeAdapter(Do)


def context(*, seed: int = 0, name: str = "t") -> ToxicContext:
    return ToxicContext(name, seed, "both", now=100.0, proof=ProxyProof())


def delays(effect: StreamEffect, *, connection: int, numbers: range) -> list[float]:
    delays_s = []
    for number in numbers:
        chunk = Chunk(connection, "to_server", number, arrived=200.0, data=b"x")
        effect.took(chunk)
        delays_s.append(effect.ready_at(chunk) - 200.0)
    return delays_s


def test_jitter_lies_between_the_time_and_time_plus_jitter() -> None:
    jitter = LatencyToxic(time=timedelta(seconds=1), jitter=timedelta(seconds=2))
    drawn = delays(jitter.effect(context()), connection=1, numbers=range(500))
    assert 1 <= min(drawn) < 1.1
    assert 2.9 < max(drawn) <= 3


def test_jitter_is_a_function_of_seed_connection_and_chunk() -> None:
    jitter = LatencyToxic(time=timedelta(0), jitter=timedelta(seconds=1))

    def drawn(seed: int = 0, name: str = "t", order: tuple[int, ...] = (7, 9), first: int = 1) -> list[list[float]]:
        effect = jitter.effect(context(seed=seed, name=name))
        return [delays(effect, connection=connection, numbers=range(first, first + 5)) for connection in order]

    assert drawn() == drawn(order=(21, 33), first=4)  # as in a second arm, where the listener has served before
    assert drawn() != drawn(seed=1)
    assert drawn() != drawn(name="other")
    assert drawn()[0] != drawn()[1]
    assert len(set(drawn()[0])) == 5


def test_a_chunk_has_the_same_delay_however_often_it_is_asked() -> None:
    effect = LatencyToxic(time=timedelta(0), jitter=timedelta(seconds=1)).effect(context())
    chunk = Chunk(1, "to_client", 3, arrived=200.0, data=b"x")
    effect.took(chunk)
    assert effect.ready_at(chunk) == effect.ready_at(chunk)


def test_bandwidth_gives_connections_turns() -> None:
    link = Bandwidth(rate=1000).effect(context())
    one = Chunk(1, "to_server", 1, arrived=100.0, data=b"x" * 50)
    other = Chunk(2, "to_server", 1, arrived=100.0, data=b"x" * 50)
    assert link.ready_at(one) == pytest.approx(100.05)
    assert link.ready_at(other) == pytest.approx(100.10)
    assert link.ready_at(one) == pytest.approx(100.05)
    link.passed(one)
    assert link.ready_at(one) == pytest.approx(100.15)


def test_the_directions_of_a_link_do_not_share_it_and_an_idle_link_saves_nothing_up() -> None:
    link, idle = Bandwidth(rate=1000).effect(context()), Bandwidth(rate=1000).effect(context())
    assert link.ready_at(Chunk(1, "to_server", 1, 100.0, b"x" * 50)) == pytest.approx(100.05)
    assert link.ready_at(Chunk(1, "to_client", 1, 100.0, b"x" * 50)) == pytest.approx(100.05)
    assert idle.ready_at(Chunk(1, "to_server", 1, 500.0, b"x" * 50)) == pytest.approx(500.05)


def test_a_toxic_is_read_by_its_key_and_written_back() -> None:
    toxic = DO.validate_python({"latency": {"time": "200ms"}})
    assert toxic == LatencyToxic(time=timedelta(milliseconds=200))
    assert DO.validate_json(DO.dump_json(toxic)) == toxic
    assert DO.validate_python({"cut": {}}) == Cut()


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"latencies": {}}, "did you mean 'latency'"),
        ({"cut": {}, "reset": {}}, "one toxic by its key"),
        ("cut", "one toxic by its key"),
        ({"latency": {"time": 200}}, "not a duration; write 200ms or 200s"),
        ({"latency": {}}, "Field required"),
        ({"latency": {"time": "0s"}}, "delays nothing"),
        ({"cut": {"hard": True}}, "Extra inputs"),
        ({"bandwidth": {"rate": 0}}, "greater than or equal to 1"),
    ],
)
def test_what_is_no_toxic_is_refused(do: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DO.validate_python(do)


@pytest.mark.parametrize("key", TOXICS)
def test_every_toxic_says_what_it_does(key: str) -> None:
    assert TOXICS[key].__doc__
