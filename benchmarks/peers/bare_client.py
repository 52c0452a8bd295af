"""Fetches pairs of pages, both of a pair at once, and forgets them. Prints when the first began and the last ended."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop
from fetching import make


def given() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("endpoint", "pairs", "client", "coding"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--in-flight", type=int, required=True, help="requests")
    return parser.parse_args()


async def main(given: argparse.Namespace, pairs: Iterator[list[int]]) -> None:
    client = make(given.client, given.endpoint, at_once=given.in_flight, coding=given.coding)
    await client.open()
    begun = time.time()

    async def some() -> None:
        for pair in pairs:
            answers = [client.fetch(f"/w/rest.php/v1/revision/{revision}/html", "bench") for revision in pair]
            for answer in answers:
                await answer

    await asyncio.gather(*(some() for _ in range(given.in_flight // 2)))
    ended = time.time()
    await client.close()
    sys.stdout.write(json.dumps({"begun": begun, "ended": ended}))


if __name__ == "__main__":
    arguments = given()
    uvloop.run(main(arguments, iter(json.loads(Path(arguments.pairs).read_text()))))
