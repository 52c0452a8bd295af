"""The event bus as a part of a stack: a process that follows the mock and publishes to the source topics."""

import json
import sys
from pathlib import Path

import requests

from devkit.guardian import Guardian
from devkit.loopback import loopback_session
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

EVENT_BUS = "event-bus"
_ANSWER_S = 5.0


def start_event_bus(guardian: Guardian, logs: Path, *, mock: str, kafka: str, stream: str) -> ProcessPart:
    """Start the bus from the mock at the URL `mock` to the topics of a stream at `kafka`, and wait until it follows.

    `stream` is a name of `devkit.event_bus.streams`. A process that is started again goes on behind the last change
    that the topics have. Raises StackError.
    """
    port = claim_port(None, "the event bus")
    address = f"http://{LOOPBACK}:{port}"
    argv = [sys.executable, "-m", "devkit.event_bus", "--mock", mock, "--kafka", kafka]
    argv += ["--stream", stream, "--port", str(port)]

    def ready(life: Life) -> None:
        def follows() -> bool:
            require_running(life)
            return bus_state(address).get("state") == "follows"

        wait_until(follows, what="the event bus to follow the mock", deadline=READY, hint=f"its log is {life.stderr}")

    part = ProcessPart(guardian, EVENT_BUS, argv, address=address, ready=ready, logs=logs)
    part.await_ready()
    return part


def bus_state(address: str) -> dict[str, object]:
    """What the bus at this URL says of itself, see `devkit.event_bus.__main__`; nothing where it does not answer."""
    with loopback_session() as session:
        try:
            state = session.get(address, timeout=_ANSWER_S).json()
        except (requests.RequestException, json.JSONDecodeError):
            return {}
    return dict(state) if isinstance(state, dict) else {}
