"""A client's connection to a broker, frame by frame; when one side ends, both do."""

import asyncio
import sys
from collections.abc import Callable

from devkit.proxy.kafka.conversation import Conversation
from devkit.proxy.kafka.frame import FrameError, framed, read_frame


class KafkaExchange:
    """The streams of a client, for which a connection to `upstream` is made."""

    def __init__(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        upstream: tuple[str, int],
        conversation: Conversation,
    ) -> None:
        self._reader, self._writer = client
        self._upstream, self._conversation = upstream, conversation

    async def run(self) -> None:
        """Until either side disconnects, a toxic loses an answer, or what comes is not Kafka's protocol."""
        broker: asyncio.StreamWriter | None = None
        tasks: tuple[asyncio.Task[None], ...] = ()
        try:
            reader, broker = await asyncio.open_connection(*self._upstream)
            tasks = (
                asyncio.ensure_future(_pass(self._reader, broker, self._conversation.request)),
                asyncio.ensure_future(_pass(reader, self._writer, self._conversation.response)),
            )
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except FrameError as error:
            sys.stderr.write(f"connection to {self._upstream[1]} closed: {error}\n")
        except OSError:
            pass  # either side is gone, as the other will see
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for writer in (self._writer, broker):
                if writer is not None:
                    writer.transport.abort()


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Callable[[bytes], bytes | None]
) -> None:
    while (frame := await read_frame(reader)) is not None:
        changed = change(frame)
        if changed is None:
            return
        writer.write(framed(changed))
        await writer.drain()
