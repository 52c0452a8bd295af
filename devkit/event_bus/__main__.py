"""The process of the event bus: `python -m devkit.event_bus --help` has its options.

Answers on its port with its state as JSON. It goes on through outages of broker and mock, and ends by SIGTERM.
"""

import argparse
import json
import signal
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

from kafka import KafkaProducer
from kafka.errors import KafkaError

from devkit.errors import DevkitError, PartError
from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import MockFeed
from devkit.event_bus.publisher import Bus
from devkit.event_bus.streams import STREAMS
from devkit.event_bus.topic_position import Headers, last_published
from devkit.stack.ports import LOOPBACK
from pipeline.kafka.long_lived import LONG_LIVED

_ANSWER_S = 30
_AGAIN_AFTER_S = 0.5


class KafkaTopics:
    """The topics of a cluster, with a producer that is made when it is needed, and made again after an error."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producer: KafkaProducer | None = None

    def last_published(self, topics: tuple[str, ...], feed: str) -> int:
        """See `devkit.event_bus.topic_position`. Nothing that was sent before is still under way then."""
        self.close()
        return last_published(self._bootstrap, topics, feed)

    def publish(self, record: BusRecord, headers: Headers) -> tuple[int, int]:
        """See `devkit.event_bus.publisher.BusTopics`."""
        try:
            if self._producer is None:
                self._producer = _connect(self._bootstrap)
            sent = self._producer.send(
                record.topic,
                key=record.key,
                value=record.value,
                headers=list(headers),
                timestamp_ms=record.timestamp_ms,
            )
            landed = sent.get(timeout=2 * _ANSWER_S)
        except KafkaError as error:
            raise PartError(f"publishing to {record.topic} at {self._bootstrap} failed: {error}", "kafka") from error
        return landed.partition, landed.offset

    def close(self) -> None:
        """What is queued is not sent any more."""
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(KafkaError):
                producer.close(timeout=0)


def _connect(bootstrap: str) -> KafkaProducer:
    producer = KafkaProducer(
        bootstrap_servers=bootstrap,
        client_id="devkit-event-bus",
        acks="all",
        enable_idempotence=True,
        linger_ms=0,
        delivery_timeout_ms=_ANSWER_S * 1000,
        request_timeout_ms=_ANSWER_S * 1000 - 1000,
        **LONG_LIVED,
    )
    producer._unregister_cleanup()  # noqa: SLF001 - it would flush, and complain of a dead broker, at the end
    return producer


class StateServer:
    """Answers every GET with the state of the bus: `follows`, or `waits` and why."""

    def __init__(self, port: int, bus: Bus) -> None:
        self._error: str | None = "has not begun"
        state = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(state.describe(bus)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """The log is of changes."""

        self._server = ThreadingHTTPServer((LOOPBACK, port), Handler)
        threading.Thread(target=self._server.serve_forever, name="state", daemon=True).start()

    def set_error(self, error: str | None) -> None:
        """Why nothing can be published now; None where it can."""
        self._error = error

    def describe(self, bus: Bus) -> dict[str, object]:
        """`published` is the newest change that the topics have."""
        state = "follows" if self._error is None else "waits"
        published = bus.published
        return {"state": state, "error": self._error, "feed": published.feed, "published": published.last}


def _log(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _run(bus: Bus, server: StateServer) -> None:
    """Goes on for ever: what keeps it from publishing is logged once, and tried again."""
    is_located, error, pause = False, None, threading.Event()
    while True:
        try:
            if not is_located:
                bus.locate()
                is_located, error = True, None
                server.set_error(None)
            bus.turn()
        except DevkitError as failure:
            if str(failure) != error:
                error = str(failure)
                _log(f"waits: {error}")
            server.set_error(error)
            is_located = False
            pause.wait(_AGAIN_AFTER_S)


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def main() -> None:
    """Follow the feed until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m devkit.event_bus", description=__doc__)
    parser.add_argument("--mock", required=True, metavar="URL", help="The mock whose pages are followed.")
    parser.add_argument("--kafka", required=True, metavar="HOST:PORT", help="Brokers to publish to.")
    parser.add_argument("--stream", required=True, choices=list(STREAMS), help="What is published of the changes.")
    parser.add_argument("--port", type=int, required=True, help="Port that answers with the state of the bus.")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    bus = Bus(MockFeed(options.mock), KafkaTopics(options.kafka), STREAMS[options.stream], _log)
    _run(bus, StateServer(options.port, bus))


if __name__ == "__main__":
    main()
