"""A claim check whose store is down makes the lane wait; nothing is dropped, and it is said.

Set-up: claim checks go to the stack's store by a way of their own, an address where nobody listens yet; one page is
too large for a record. Checked while the store is out of reach: the pipeline says so and runs on, the batch does not
commit, and the large page has neither output nor error event; a batch that is over its budget goes on without it. Then
the way is opened, and the audit finds every event once, the large ones as claim checks that hold what they say.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from devkit.observe.logs.logs import LineTail
from devkit.stack.ports import LOOPBACK, free_port
from devkit.waiting import wait_until
from pipeline.events import OF_WORKERS
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/records", "pipeline/worker")
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 9,
    "rate": "200/s",
    "for": "200ms",
    "population": 20,
    "pages": {"Huge": {"edits": 3, "at": [0.2, 0.5, 0.8]}},
}
RULES: list[dict[str, Any]] = [
    {"name": "huge", "when": {"page": "Huge"}, "do": {"body": {"size": "3MiB", "encoding": "gzip"}}}
]


def test_the_lane_waits_and_nothing_is_dropped(make_bench: Callable[..., Bench]) -> None:
    port = free_port()
    settings = {"claim_check": {"endpoint": f"http://{LOOPBACK}:{port}"}, "batch": {"max_offsets": 500}}
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=settings)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)

    def store_is_down() -> bool:
        # What a Python worker says reaches the driver's standard error.
        return '"claim_store_down"' in run.process.stderr.read_text(errors="replace")

    run.await_condition(store_is_down, "the pipeline to say that the store is down")
    run.await_condition(lambda: not bench.in_flight("huge"), "no large page to be fetched any more")
    assert not run.logged("batch_written")
    assert bench.committed() == {}
    assert not claims_of(bench)
    assert not bench.errors()

    with way_to(bench.stack.object_store.endpoint, port):
        bench.await_drained(run)
    assert run.terminate() == 0
    # What the kit reads there, so that a scenario may expect it.
    said = [event.event for event in LineTail(run.process.stderr, OF_WORKERS).new_events()]
    assert set(said) == {"claim_store_down", "claim_store_back"}
    assert not bench.errors()
    assert len(claims_of(bench)) == 3
    assert bench.assert_clean(restarted=False).duplicated == 0


# With `remove` a payload is stored when its turn has come in its page.
@pytest.mark.parametrize("suppressed", ["keep", pytest.param("remove", marks=pytest.mark.slow)])
def test_a_batch_over_its_budget_goes_on_without_what_it_still_holds(
    make_bench: Callable[..., Bench], suppressed: str
) -> None:
    port = free_port()
    settings = {
        "claim_check": {"endpoint": f"http://{LOOPBACK}:{port}", "suppressed": suppressed},
        "batch": {"max_offsets": 500},
        "deferral": {"inline_allowance": "3s", "slow_lane": {"backoff": "1s", "backoff_cap": "1s"}},
        "batch_budget": "6s",
        "stall_timeout": "25s",
    }
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=settings)
    bench.publish(wait=True)
    run = bench.start()
    wait_until(
        lambda: run.logged("batch_written") or run.process.exit_code is not None,
        what="the batch to be written, or the process to end",
        deadline=timedelta(seconds=90),
    )
    assert run.logged("batch_written"), "the batch waited for the store, beyond its budget"
    run.await_condition(lambda: sum(bench.committed().values()) == bench.source_end(), "all events to be committed")
    assert bench.deferred() == 3, "the large page's"
    assert len(bench.over_budget()) == 1, "its first; the others wait for their page"
    assert not claims_of(bench)

    with way_to(bench.stack.object_store.endpoint, port):
        bench.await_drained(run)
    assert run.terminate() == 0
    assert not bench.errors()
    assert len(claims_of(bench)) == 3
    assert bench.assert_clean(restarted=False).duplicated == 0


def claims_of(bench: Bench) -> list[dict[str, bytes]]:
    return [arrival.headers for arrival in bench.outputs() if "claim-check-key" in arrival.headers]


@contextlib.contextmanager
def way_to(endpoint: str, port: int) -> Iterator[None]:
    """Whoever connects to `port` talks to the endpoint."""
    target = urlsplit(endpoint)

    class Forward(BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((target.hostname or "", target.port or 0)) as there:
                back = threading.Thread(target=copy, args=(there, self.request))
                back.start()
                copy(self.request, there)
                back.join()

    class Server(ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server((LOOPBACK, port), Forward) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def copy(source: socket.socket, target: socket.socket) -> None:
    """All that comes, and the end of it."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
