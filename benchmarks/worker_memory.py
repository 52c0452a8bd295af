"""What a byte of fetched content costs a Python worker: peak resident memory against the bytes that may be in flight.

    python benchmarks/worker_memory.py              ─▶   a line for each page size, text and bound, and the factor

A process of its own runs html-enrichment's worker function over edits of large pages, which another process serves.
Both revisions of a page are of the size that is said. `cyrillic` has two bytes a character, as many in Python; `emoji`
is ASCII with a single character beyond it, for which Python takes four bytes for each.
The factor is that of the growth between two bounds. What comes besides is the same for both: modules, connections and
loop, some 75 MiB, and the copies of the one record at work. `pipeline.memory.division` has what was found.
"""

import asyncio
import functools
import json
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow as pa

MIB = 1024 * 1024
TEXTS = ("ascii", "cyrillic", "emoji")
LINE = 400


@functools.cache
def body(text: str, size: int, revision: int) -> bytes:
    """A page of `size` bytes; two revisions of it differ in one line."""
    word = "Страница " if text == "cyrillic" else "paragraph "
    line = (word * LINE).encode()[:LINE].decode(errors="ignore").encode()
    lines = [b"%08d " % number + line for number in range(size // (len(line) + 10) + 1)]
    lines[len(lines) // 2] = f"revision {revision} {'😀' if text == 'emoji' else ''}".encode()
    return b"\n".join(lines)[:size].decode(errors="ignore").encode()


async def serve(text: str, size: int) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            revision = int(head.split(b"/revision/")[1].split(b"/")[0])
            page = body(text, size, revision % 2)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page))
            writer.write(page)
            await writer.drain()

    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    server = await asyncio.start_server(quietly, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def event(number: int) -> bytes:
    revision = (number + 1) * 4096 + 1
    return orjson.dumps(
        {
            "$schema": "/mediawiki/page/change/1.2.0",
            "meta": {"stream": "mediawiki.page_change.v1", "id": f"{number:032x}", "domain": "en.wikipedia.org"},
            "dt": "2026-03-02T09:00:00Z",
            "wiki_id": "enwiki",
            "changelog_kind": "update",
            "page_change_kind": "edit",
            "page": {"page_id": number + 1, "page_title": f"Page {number}", "namespace_id": 0},
            "revision": {
                "rev_id": revision,
                "rev_dt": "2026-03-02T09:00:00Z",
                "rev_parent_id": revision - 1,
                "content_slots": {"main": {"slot_role": "main", "content_model": "wikitext"}},
            },
        }
    )


def messages(count: int) -> pa.RecordBatch:
    now = datetime.now(UTC)
    return pa.RecordBatch.from_pydict(
        {
            "topic": ["source"] * count,
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "key": [b"%d" % number for number in range(count)],
            "value": [event(number) for number in range(count)],
            "timestamp": pa.array([now] * count, pa.timestamp("us", tz="UTC")),
        }
    )


def work(port: int, bound: int, pages: int, buffer: int) -> None:
    """Prints how much resident memory there was when the worker was warm, and at most."""
    from pipeline.config.pipeline_config import PipelineConfig
    from pipeline.worker import spark_task as worker

    config = PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1", "max.request.size": 256 * MIB},
            "mediawiki": {"endpoint": f"http://127.0.0.1:{port}"},
            "checkpoint": "unused",
            "content_limit": {"max_bytes": 256 * MIB},
            "fetch": {"max_in_flight_bytes": bound, "concurrency": 64},
            "deferral": {"policy": "none"},
            "result_buffer": buffer,
        }
    )
    function = worker.enrich(config, workers=1)
    warm = resident()
    made = errors = 0
    for batch in function(iter([messages(pages)])):
        made += batch.num_rows
        errors += sum("error" in topic for topic in batch.column("topic").to_pylist())
    print(json.dumps({"warm": warm, "peak": resident(), "records": made, "errors": errors}))


def resident() -> int:
    """The most there has been."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(text: str, size: int, bound: int, pages: int, buffer: int = 8 * MIB) -> dict[str, int]:
    root = Path(__file__).parents[1]
    run = [sys.executable, str(Path(__file__))]
    server = subprocess.Popen([*run, "serve", text, str(size)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        arguments = ["work", port, *map(str, (bound, pages, buffer))]
        out = subprocess.run(
            [*run, *arguments], capture_output=True, text=True, check=True, cwd=root, env={"PYTHONPATH": str(root)}
        )
    finally:
        server.kill()
        server.wait()
    found: dict[str, int] = json.loads(out.stdout)
    return found


def main() -> None:
    for size in (MIB, 4 * MIB, 15 * MIB):
        for text in TEXTS:
            pages = f"{text:<9} pages of {size / MIB:.0f} MiB"
            grown = {}
            most = max(8 * size, 64 * MIB)
            for bound in (2 * size, most):
                found = measure(text, size, bound, pages=3 * most // size)
                assert found["errors"] == 0
                grown[bound] = found["peak"] - found["warm"]
                print(f"{pages}, bound {bound / MIB:.0f} MiB: grown by {grown[bound] / MIB:.0f} MiB", flush=True)
            low, high = min(grown), max(grown)
            factor = (grown[high] - grown[low]) / (high - low)
            rest = grown[low] - factor * low
            print(f"{pages}: factor {factor:.2f}, besides {rest / MIB:.0f} MiB", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(sys.argv[2], int(sys.argv[3])))
    elif sys.argv[1:2] == ["work"]:
        work(*map(int, sys.argv[2:]))
    else:
        main()
