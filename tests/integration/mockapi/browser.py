"""Drives headless Chromium over its DevTools protocol: opens a page, runs JavaScript in it, takes pictures."""

import asyncio
import base64
import contextlib
import itertools
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp

from devkit.waiting import wait_until

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
START_DEADLINE: Final = timedelta(seconds=30)
CALL_DEADLINE_S: Final = 30.0
CONDITION_DEADLINE_MS: Final = 15_000
_OPTIONS: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-port=0"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def found() -> str | None:
    """A browser on PATH."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


class Page:
    """One tab. `console` is what it complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()
        self.console: list[str] = []

    async def listen(self) -> None:
        async for message in self._socket:
            event = message.json()
            if "id" in event:
                self._answers.pop(event["id"]).set_result(event)
            elif event["method"] == "Page.loadEventFired":
                self._loaded.set()
            elif event["method"] == "Runtime.exceptionThrown":
                self.console.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded":
                self.console.append(str(event["params"]["entry"]["text"]))

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        answer = await asyncio.wait_for(self._answers[number], CALL_DEADLINE_S)
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    async def open(self, url: str) -> None:
        self._loaded.clear()
        await self.call("Page.navigate", url=url)
        await asyncio.wait_for(self._loaded.wait(), CALL_DEADLINE_S)

    async def run(self, script: str) -> Any:
        """The value of an expression; of a promise, what it resolves to."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Waits until a JavaScript expression is true; fails with it."""
        script = f"""new Promise((resolve) => {{
          const end = performance.now() + {CONDITION_DEADLINE_MS};
          const look = () => ({condition}) ? resolve(true)
            : performance.now() > end ? resolve(false) : setTimeout(look, 30);
          look();
        }})"""
        assert await self.run(script), f"not within {CONDITION_DEADLINE_MS} ms: {condition}"

    async def size(self, width: int, *, dark: bool = False) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def picture(self) -> bytes:
        """A PNG of the whole page."""
        answer = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])


@contextlib.contextmanager
def started(program: str, profile: Path) -> Iterator[str]:
    """A browser; the address of its protocol."""
    process = subprocess.Popen(
        [program, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    file = profile / "DevToolsActivePort"
    try:
        port = wait_until(
            lambda: file.exists() and file.read_text().partition("\n")[0],
            what="the browser to say where it listens",
            deadline=START_DEADLINE,
            interval=timedelta(milliseconds=50),
        )
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_DEADLINE.total_seconds())


@contextlib.asynccontextmanager
async def tab(address: str) -> AsyncIterator[Page]:
    """A new tab of the browser at `address`, without what others stored."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"{address}/json/new?about:blank") as answer:
            made = await answer.json()
        async with session.ws_connect(made["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            opened = Page(socket)
            listening = asyncio.create_task(opened.listen())
            for domain in ("Page", "Runtime", "Log"):
                await opened.call(f"{domain}.enable")
            yield opened
            listening.cancel()
        async with session.get(f"{address}/json/close/{made['id']}"):
            pass
