"""What a person reads of a request that failed: the innermost cause, and nothing of the library's chain."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator

import pytest
import requests
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError

from devkit.loopback import loopback_session
from devkit.network_cause import network_cause


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
