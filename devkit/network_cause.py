"""Why a request over the network failed, in a few words of its innermost cause.

HTTP libraries wrap an error of the system several times, and quote the whole chain with the addresses of objects.
"""

import socket
import ssl
from collections.abc import Iterator
from http.client import IncompleteRead

import requests
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, ReadTimeoutError


def network_cause(error: BaseException) -> str:
    """`connection refused`, `the host's name is not known`; that of a proxy is said to be one."""
    words = _words(list(_chain(error)))
    return f"no way through the proxy: {words}" if isinstance(error, requests.exceptions.ProxyError) else words


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was made from, the innermost last."""
    seen_ids: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen_ids:
        seen_ids.add(id(following))
        yield following
        wrapped = [getattr(following, "reason", None), *following.args, following.__cause__, following.__context__]
        following = next((cause for cause in wrapped if isinstance(cause, BaseException)), None)


def _words(chain: list[BaseException]) -> str:
    for error in reversed(chain):
        match error:
            case ssl.SSLCertVerificationError():
                return error.verify_message
            case NameResolutionError() | socket.gaierror():
                return "the host's name is not known"
            case ConnectTimeoutError() | ReadTimeoutError() | TimeoutError():
                return "no answer in time"
            case IncompleteRead():
                return "the server closed the connection"
            case OSError(strerror=str(text)) if text:
                return text.lower()
    return str(chain[-1]) or type(chain[-1]).__name__
