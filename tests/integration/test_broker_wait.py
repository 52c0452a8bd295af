"""A job that starts while its brokers are away.

Set-up: the job's bootstrap address is a port on which nobody listens, until a relay to the real broker does. Checked:
the log says that the start waits, the job runs once the port answers, and a start whose deadline passes ends with 1.
"""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.integration.crash.bench import Bench
from tests.integration.test_checkpoint_of_another_job import with_settings

ROOMS = ("pipeline/kafka",)
MakeBench = Callable[..., Bench]

TRAFFIC = {"generator": "page_change", "seed": 2, "rate": "100/s", "for": "100ms", "population": 4}


@contextmanager
def relay(port: int, target: str) -> Iterator[None]:
    """Whatever connects to the port on loopback is connected to the target."""
    host, _, number = target.rpartition(":")

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((host, int(number))) as to:
                back = threading.Thread(target=pump, args=(to, self.request), daemon=True)
                back.start()
                pump(self.request, to)
                back.join()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while some := source.recv(65536):
                sink.sendall(some)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", port), Relay) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def test_a_start_ends_when_its_deadline_has_passed(make_bench: MakeBench, free_tcp_port: int) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    at = {"bootstrap_servers": f"127.0.0.1:{free_tcp_port}"}
    with_settings(
        bench,
        {"source": at, "sink": at, "stall_timeout": "3s", "batch_budget": "2s", "deferral": {"inline_allowance": "1s"}},
    )
    run = bench.start()
    assert run.await_end() == 1, run.process.last_words(20)
    (failed,) = run.logged("failed")
    assert failed["error"].startswith(f"kafka broker unreachable at {at['bootstrap_servers']} (KafkaConnectionError: ")
    assert failed["error"].endswith("the start waited 3 s")
    (awaited, *_) = run.logged("brokers_awaited")
    assert awaited["bootstrap"] == at["bootstrap_servers"]
    assert 0 < awaited["remaining_s"] < 3


def test_a_start_waits_for_its_brokers(make_bench: MakeBench, free_tcp_port: int) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    at = {"bootstrap_servers": f"127.0.0.1:{free_tcp_port}"}
    with_settings(bench, {"source": at, "sink": at})
    run = bench.start()
    waited = run.await_line("brokers_awaited")
    assert waited["remaining_s"] > 500
    with relay(free_tcp_port, bench.bootstrap):
        run.await_line("started")
        bench.await_drained(run)
        assert run.terminate() == 0, run.process.last_words(20)
    bench.assert_clean(restarted=False)
