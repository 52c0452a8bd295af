"""Errors of the kit, waits that end with one, and what a person reads of a request that failed: the innermost cause."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError

from devkit import errors
from devkit.errors import (
    DevkitError,
    InvalidFileError,
    PartError,
    Problem,
    SetupError,
    StackError,
    UsageError,
    WaitTimeoutError,
)
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from devkit.waiting import explaining_timeouts, wait_until

AT_ONCE = timedelta(0)
LONG = timedelta(seconds=30)


@pytest.mark.parametrize(
    ("kind", "parent", "code"),
    [
        (DevkitError, Exception, 3),
        (UsageError, DevkitError, 2),
        (InvalidFileError, UsageError, 2),
        (SetupError, DevkitError, 3),
        (StackError, DevkitError, 3),
        (WaitTimeoutError, StackError, 3),
        (PartError, StackError, 3),
    ],
)
def test_the_tree_and_its_exit_codes(kind: type[DevkitError], parent: type[Exception], code: int) -> None:
    assert kind.__base__ is parent
    assert kind.exit_code == code


def test_the_tree_drawn_in_the_module_is_the_whole_tree() -> None:
    public = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert public == {name for name in public if f"{name} " in (errors.__doc__ or "")}
    assert len(public) == 7


def test_an_error_of_the_harness_says_in_its_first_line_what_to_do_next() -> None:
    error = StackError("Kafka ended: no room\nits last lines:\n  no room", hint="see its log")
    assert error.render() == "error: Kafka ended: no room; hint: see its log\nits last lines:\n  no room"


def test_a_part_that_does_not_answer_is_no_matter_of_the_machine() -> None:
    error = PartError("Kafka does not answer", "kafka")
    assert "log of that part" in error.with_hint
    assert "doctor" not in error.with_hint


@pytest.mark.parametrize("kind", [StackError, WaitTimeoutError, SetupError])
def test_one_without_a_hint_of_its_own_names_the_doctor(kind: type[DevkitError]) -> None:
    assert kind("Kafka ended").render() == "error: Kafka ended; hint: `devkit doctor` checks this machine"


def test_a_usage_error_has_its_hint_below_the_places_that_it_names() -> None:
    assert UsageError("a.yaml:3:1: x", hint="write y").render() == "error: a.yaml:3:1: x\nhint: write y"
    assert UsageError("no such name").render() == "error: no such name"


def test_an_invalid_file_names_each_place() -> None:
    error = InvalidFileError(Path("a.yaml"), [Problem(3, 1, "x: is missing"), Problem(9, 4, "y: unknown key")])
    assert str(error) == "a.yaml:3:1: x: is missing\na.yaml:9:4: y: unknown key"
    assert error.path == Path("a.yaml")
    assert error.problems == (Problem(3, 1, "x: is missing"), Problem(9, 4, "y: unknown key"))


@contextlib.contextmanager
def serving(answer: bytes | None) -> Iterator[str]:
    """Its address; it closes each connection behind the answer, and with None says nothing."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(1000)
                    if answer is None:
                        done.wait(30)
                    else:
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            done.set()


def cause_of_get(url: str, timeout: float = 30) -> str:
    with loopback_session() as session, pytest.raises((requests.RequestException, OSError)) as raised:
        _ = session.get(url, timeout=timeout).content
    return network_cause(raised.value)


def test_a_connection_that_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert cause_of_get(f"http://127.0.0.1:{port}/x") == "connection refused"


def test_a_server_that_says_nothing() -> None:
    with serving(None) as url:
        assert cause_of_get(url, timeout=0.05) == "no answer in time"


def test_a_server_that_closes_in_the_middle() -> None:
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") as url:
        assert cause_of_get(url) == "the server closed the connection"


def of(
    reason: Exception, kind: type[requests.RequestException] = requests.ConnectionError
) -> requests.RequestException:
    """As requests wraps what urllib3 has given up on."""
    return kind(MaxRetryError(HTTPConnection("x"), "/jar", reason))  # type: ignore[arg-type]  # a pool only in name


def test_a_host_that_is_not_known() -> None:
    reason = NameResolutionError("x.invalid", HTTPConnection("x"), socket.gaierror(-2, "Name or service not known"))
    assert network_cause(of(reason)) == "the host's name is not known"


def test_a_certificate_that_is_not_accepted() -> None:
    refused = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
    refused.verify_message = "self-signed certificate"
    assert network_cause(of(refused, requests.exceptions.SSLError)) == "self-signed certificate"


def test_a_proxy_that_cannot_be_reached() -> None:
    refused = NewConnectionError(HTTPConnection("x"), "Failed to establish a new connection")
    refused.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert network_cause(of(refused, requests.exceptions.ProxyError)) == "no way through the proxy: connection refused"


def test_anything_else_in_its_own_words() -> None:
    assert network_cause(OSError("no CA bundle at /x")) == "no CA bundle at /x"
    assert network_cause(requests.Timeout()) == "Timeout"


def after(looks: int, value: str) -> Callable[[], str | None]:
    """A condition that comes true at the given look."""
    left = iter([None] * (looks - 1) + [value])
    return lambda: next(left)


def test_returns_what_the_condition_returned() -> None:
    assert wait_until(after(1, "ready"), what="it", deadline=LONG) == "ready"


def test_asks_until_it_is_true() -> None:
    assert wait_until(after(4, "ready"), what="it", deadline=LONG, interval=AT_ONCE) == "ready"


def test_a_condition_that_is_true_at_once_needs_no_time() -> None:
    assert wait_until(after(1, "ready"), what="it", deadline=timedelta(seconds=-1)) == "ready"


@pytest.mark.parametrize("never", [None, False, 0, ""])
def test_names_condition_deadline_and_hint_when_in_vain(never: object) -> None:
    with pytest.raises(WaitTimeoutError, match=r"^waited 0.001 s for Kafka to answer, in vain$") as caught:
        wait_until(
            lambda: never,
            what="Kafka to answer",
            deadline=timedelta(milliseconds=1),
            interval=AT_ONCE,
            hint="its log is here",
        )
    assert caught.value.hint == "its log is here"


def test_an_error_of_the_condition_ends_the_wait() -> None:
    def dead() -> bool:
        raise StackError("Kafka ended")

    with pytest.raises(StackError, match="Kafka ended"):
        wait_until(dead, what="it", deadline=LONG)


@pytest.mark.parametrize(
    ("reason", "message"), [("", "in vain"), ("the machine is busy", "in vain: the machine is busy")]
)
def test_a_wait_in_vain_says_why_it_may_be(reason: str, message: str) -> None:
    with pytest.raises(WaitTimeoutError, match=rf"{message}$") as caught, explaining_timeouts(lambda: reason):
        wait_until(lambda: False, what="it", deadline=AT_ONCE, interval=AT_ONCE, hint="its log is here")
    assert caught.value.hint == "its log is here"


def test_another_error_stays_as_it_is() -> None:
    with pytest.raises(StackError, match=r"^Kafka ended$"), explaining_timeouts(lambda: "the machine is busy"):
        raise StackError("Kafka ended")
