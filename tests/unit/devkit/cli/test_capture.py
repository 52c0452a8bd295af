import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from devkit.traffic.capture.capture_file import CapturedRecord, CaptureSource, EndedBy
from devkit.traffic.capture.capture_writer import CaptureWriter
from devkit.traffic.capture.take import CaptureOrder
from devkit.traffic.capture.take import Taken as TakenCapture
from tests.unit.devkit.cli.conftest import Devkit, Kept


class Taken:
    """Stands in for a capture; notes what was ordered."""

    order: CaptureOrder | None = None
    out: Path | None = None
    count = 5
    ended_by: EndedBy = "time"
    does: Callable[[Callable[[], bool]], None] = staticmethod(lambda _stop: None)


@pytest.fixture(autouse=True)
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    found = Taken()

    def take(order: CaptureOrder, out: Path, *, stop: Callable[[], bool], tell: Callable[[int], None]) -> TakenCapture:
        found.order, found.out = order, out
        found.does(stop)
        tell(found.count)
        return TakenCapture(found.count, 3 << 20, found.ended_by)

    monkeypatch.setattr("devkit.traffic.capture.take.take_capture", take)
    monkeypatch.delenv("DEVKIT_KAFKA", raising=False)
    return found


def test_what_is_typed_is_what_is_taken(devkit: Devkit, taken: Taken) -> None:
    finished = devkit(
        *("capture", "--kafka", "kafka1:9092,kafka2:9092", "--topic", "a", "--topic", "b", "--for", "2m"),
        *("--from", "2026-11-23T02:00:00Z", "--max-events", "7", "--max-bytes", "5MiB", "--out", "c.jsonl"),
    )
    assert finished.code == 0, finished.err
    start = datetime(2026, 11, 23, 2, tzinfo=UTC)
    assert taken.order == CaptureOrder(
        "kafka1:9092,kafka2:9092", ("a", "b"), start, timedelta(minutes=2), 7, 5 << 20, keep_text=False
    )
    assert finished.err == (
        "reading a, b at kafka1:9092,kafka2:9092 for 2m, at most 7 events and 5MiB; Ctrl-C ends it\n"
    )
    assert finished.out == "c.jsonl: 5 events, 3.0 MiB, ended by its time\n"
    taken.ended_by = "size"
    assert "ended by --max-bytes" in devkit("capture", "--kafka", "k:1", "--topic", "a").out


def test_by_default_it_takes_ten_minutes_from_now_on_from_the_stack_that_is_up(
    devkit: Devkit, taken: Taken, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(kafka="127.0.0.1:1", kafka_direct="127.0.0.1:2")
    assert devkit("capture", "--topic", "a").code == 0
    assert taken.order is not None
    assert taken.out is not None
    assert (taken.order.bootstrap, taken.order.start) == ("127.0.0.1:2", "latest")
    assert taken.order.span == timedelta(minutes=10)
    assert taken.out.name.startswith("capture-20")
    monkeypatch.setenv("DEVKIT_KAFKA", "elsewhere:9092")
    devkit("capture", "--topic", "a")
    assert taken.order.bootstrap == "elsewhere:9092"


def test_the_addresses_of_an_external_stack_will_do(devkit: Devkit, taken: Taken, here: Path) -> None:
    (here / "addresses.yaml").write_text(
        "{kafka: 'kafka1:9092', s3_endpoint: 'http://s3:1', mock_api: 'http://mock:1'}"
    )
    assert devkit("capture", "--addresses", "addresses.yaml", "--topic", "a").code == 0
    assert taken.order is not None
    assert taken.order.bootstrap == "kafka1:9092"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--kafka", "kafka1"), "--kafka: not understood (got 'kafka1')\nhint: write host:port"),
        (("--kafka", "k:1", "--run-id", "x"), "each name a cluster\nhint: keep one of them"),
        (("--kafka", "k:1", "--for", "10"), "--for: no unit"),
        (("--kafka", "k:1", "--for", "0s"), "--for: must be longer than 0"),
        (("--kafka", "k:1", "--max-bytes", "200"), "--max-bytes: must be 1MiB or more\nhint: write for example 200MiB"),
        (("--kafka", "k:1", "--max-bytes", "1 giga"), "--max-bytes: unknown unit 'giga'"),
        (("--kafka-config", "no.properties"), "no.properties cannot be read: No such file"),
        (("--kafka", "k:1", "--from", "noon"), "--from: not understood (got 'noon')\nhint: write earliest, latest"),
        ((), "no stack is up"),
    ],
)
def test_what_is_no_order_says_why(devkit: Devkit, arguments: tuple[str, ...], problem: str) -> None:
    finished = devkit("capture", "--topic", "a", *arguments)
    assert finished.code == 2
    assert problem in finished.err


@pytest.mark.parametrize(
    ("interrupts", "code", "seen"),
    [(1, 0, [False, True]), (2, 130, [False])],
    ids=["an interrupt is an end like any other", "a second one breaks it off"],
)
def test_interrupts(devkit: Devkit, taken: Taken, interrupts: int, code: int, seen: list[bool]) -> None:
    stopped: list[bool] = []

    def interrupted(stop: Callable[[], bool]) -> None:
        stopped.append(stop())
        for _ in range(interrupts):
            os.kill(os.getpid(), signal.SIGINT)
        stopped.append(stop())

    taken.does = interrupted
    before = signal.getsignal(signal.SIGINT)
    assert devkit("capture", "--kafka", "k:1", "--topic", "a").code == code
    assert stopped == seen
    assert signal.getsignal(signal.SIGINT) is before


def test_it_says_when_nothing_came_and_when_text_is_kept(devkit: Devkit, taken: Taken) -> None:
    taken.count = 0
    finished = devkit("capture", "--kafka", "k:1", "--topic", "a", "--keep-text")
    assert finished.code == 0
    assert "nothing came to the topic in that time" in finished.err
    assert "treat it like the topic itself" in finished.err


def test_a_topic_is_asked_for(devkit: Devkit) -> None:
    finished = devkit("capture", "--kafka", "k:1")
    assert (finished.code, "--topic: which topic is to be read" in finished.err) == (2, True)


def test_a_cluster_with_a_login_is_told_without_its_secret(devkit: Devkit, taken: Taken, here: Path) -> None:
    (here / "client.properties").write_text(
        "bootstrap.servers=jumbo:9093\nsecurity.protocol=SASL_SSL\ngroup.id=mine\n"
        "sasl.username=reader\nsasl.password=hunter2\n"
    )
    finished = devkit("capture", "--kafka-config", "client.properties", "--topic", "a")
    assert finished.code == 0, finished.err
    assert "reading a at jumbo:9093 (SASL_SSL, login PLAIN as reader) for 10m" in finished.err
    assert "not used of client.properties: group.id\n" in finished.err
    assert "hunter2" not in finished.err + finished.out + repr(taken.order)
    assert taken.order is not None
    assert taken.order.client.password is not None
    assert taken.order.client.password.get_secret_value() == "hunter2"
    devkit("capture", "--kafka", "other:1", "--kafka-config", "client.properties", "--topic", "a")
    assert taken.order.bootstrap == "other:1"


def test_a_capture_that_was_killed_is_made_whole(devkit: Devkit, here: Path) -> None:
    source = {"kafka": "k:1", "topics": {"a": 1}, "from": "latest", "began": datetime(2026, 11, 23, tzinfo=UTC)}
    with CaptureWriter(here / "c.jsonl", CaptureSource.model_validate(source), text_kept=False) as writer:
        writer.add(CapturedRecord(topic="a", partition=0, offset=0, timestamp_ms=1, key=None, bytes=2, event={}))
    finished = devkit("capture", "--finish", "c.jsonl.part")
    assert (finished.code, finished.out) == (0, "c.jsonl: 1 event\n"), finished.err
    assert (here / "c.jsonl").exists()
