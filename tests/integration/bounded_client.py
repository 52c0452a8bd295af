"""The pipeline's client in a process of its own, whose memory can be measured: fetches revisions all at once.

    bounded_client.py PORT MAX_BYTES IN_FLIGHT_BYTES REVISION…   ─▶   JSON: error types, and the growth of its memory

A file that grew beyond MAX_BYTES would end it: the kernel sees to that.
"""

import asyncio
import json
import random
import resource
import sys
import time
from datetime import UTC, datetime

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchFailedError, WikiClient
from pipeline.fetch.in_flight import InFlightBytes

WARM_UP = 28673
_COMES_S = 0.1


def most_memory_bytes() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


async def main(port: int, max_bytes: int, in_flight_bytes: int, revisions: list[int]) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    config = PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": f"http://127.0.0.1:{port}"},
            "checkpoint": "unused",
            "claim_check": {"max_bytes": max_bytes},
            "fetch": {"max_in_flight_bytes": in_flight_bytes, "concurrency": 64},
        }
    )
    in_flight = InFlightBytes(config.fetch.max_in_flight_bytes)
    client = WikiClient(
        config,
        clock=time.monotonic,
        now=lambda: datetime.now(UTC),
        jitter=random.Random(1),
        in_flight=in_flight,
    )

    async def one(revision: int) -> str:
        with in_flight.record():
            try:
                page = await client.fetch("enwiki", revision, request_id=f"{revision}", deadline=client.deadline(60))
            except FetchFailedError as error:
                return error.failure.error_type
            # As long as others come into memory beside it: so all would be there at once if nothing held them back.
            held = -1
            while held != in_flight.memory_bytes:
                held = in_flight.memory_bytes
                await asyncio.sleep(_COMES_S)
            return "fetched" if page.text else "empty"

    before = [await one(WARM_UP), most_memory_bytes()]
    outcomes = await asyncio.gather(*map(one, revisions))
    grown = most_memory_bytes() - int(before[1])
    await client.close()
    print(json.dumps({"warm_up": before[0], "outcomes": outcomes, "grown_bytes": grown}))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    asyncio.run(main(*numbers[:3], numbers[3:]))
