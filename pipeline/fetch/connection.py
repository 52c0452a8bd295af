"""A connection that gives one answer for one request.

aiohttp keeps whatever else comes on a connection that it keeps, and takes it for the answer to the next request. From
then on each request on that connection would get the answer of the one before it, and an event another page's.
"""

import asyncio
import functools
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader

# Answers that announce the answer, as 100 and 103 do: who sends many sends no other.
_MOST_INTERIM = 20


class OneAnswer(ResponseHandler):
    """Closes the connection on the first byte that was not asked for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._interim = 0
        self._answer: StreamReader | None = None

    def set_response_params(self, **params: Any) -> None:
        """As a request begins."""
        self._interim, self._answer = 0, None
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Bytes behind a complete response belong to none."""
        if self._answer is None or not self._answer.is_eof():
            super().data_received(data)
        elif data:
            self._close("more than was asked for")

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """The head of an answer."""
        message, body = data
        if self._answer is not None:
            self._close("a second answer")
            return
        if message.code >= 200:
            self._answer = body
        else:
            self._interim += 1
        if self._interim <= _MOST_INTERIM:
            super().feed_data(data, size)
        else:
            self._close(f"more than {_MOST_INTERIM} answers that are none yet")

    def _close(self, reason: str) -> None:
        if self.exception() is None:
            self.set_exception(aiohttp.ClientConnectionError(f"the upstream sent {reason}"))
        if self.transport is not None:
            self.transport.abort()


class OneAnswerConnector(aiohttp.TCPConnector):
    """To be made in the event loop in which it is used."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # aiohttp has no public place for it.
        self._factory = functools.partial(OneAnswer, loop=self._loop)  # type: ignore[assignment] # of a subclass
