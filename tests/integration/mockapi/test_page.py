"""The mock's page in a real browser: it shows rules, requests and load live, and a rule that is switched off ends.

Set-up: a running mock, and headless Chromium without a network but loopback.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.mockapi import browser
from tests.integration.mockapi.browser import Page

ROOMS = ("mockapi/control",)
REVISION = 28674
GONE = {"name": "gone <b>", "when": {"revision": REVISION}, "do": {"status": 404}, "ttl": "10m", "times": 9}
SLOW = {"name": "slow", "when": {"page": "Nowhere"}, "do": {"latency": "2s"}}
Opened = Callable[[], Any]
StartMock = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = browser.found()
    if program is None:
        pytest.skip("NOT TESTED: there is no Chromium on PATH, so nobody looked at the mock's page in a browser")
    with browser.started(program, tmp_path_factory.mktemp("browser")) as address:
        yield address


@pytest.fixture
def opened(mock: Any, chromium: str) -> Opened:
    """The page of a mock with two rules and one request."""
    return lambda: shown(mock, chromium)


@asynccontextmanager
async def shown(mock: Any, chromium: str) -> AsyncIterator[Page]:
    mock.rules(GONE, SLOW)
    assert mock.page(REVISION).status == 404
    async with browser.tab(chromium) as page:
        await page.open(f"http://127.0.0.1:{mock.port}/__mock/")
        await page.until("document.querySelector('#link.live') && document.querySelector('#requests tbody tr')")
        yield page


def in_browser(opened: Opened, look: Callable[[Page], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened() as page:
            await look(page)

    asyncio.run(run())


def text(selector: str) -> str:
    return f"document.querySelector({selector!r}).innerText"


def test_rules_are_shown_with_what_is_left_of_them(opened: Opened) -> None:
    async def look(page: Page) -> None:
        rows = await page.run("[...document.querySelectorAll('#rules tbody tr')].map((row) => row.innerText)")
        assert len(rows) == 2
        assert all(
            part in rows[0] for part in ("gone <b>", "status: {code: 404}", "effective", "8 times remaining", "404: 1")
        )
        assert await page.run(text("#rules-count")) == "2 of 2 effective"
        assert "GET /w/rest.php/v1/revision/28674/html" in await page.run(text("#requests tbody tr"))
        assert await page.run("document.querySelectorAll('#load svg').length") == 4
        assert page.console == []

    in_browser(opened, look)


def test_a_rule_that_is_switched_off_ends_and_goes_on_when_switched_on(opened: Opened, mock: Any) -> None:
    async def look(page: Page) -> None:
        await page.run("document.querySelector('#rules [role=switch]').click()")
        await page.until("document.querySelector('#rules [role=switch]').ariaChecked === 'false'")
        assert "switched off" in await page.run(text("#rules tbody tr"))
        assert await page.run(text("#rules-count")) == "1 of 2 effective"
        assert mock.page(REVISION).status == 200
        await page.until("document.querySelector('#requests .status').textContent === '200'")
        await page.run("document.querySelector('#rules [role=switch]').click()")
        await page.until("document.querySelector('#rules [role=switch]').ariaChecked === 'true'")
        assert mock.page(REVISION).status == 404

    in_browser(opened, look)


def test_requests_are_filtered_by_rule_and_say_why_not(opened: Opened, mock: Any) -> None:
    choose = """(name, value) => {
      const select = document.querySelector(`#filter [name=${name}]`);
      select.value = value; select.dispatchEvent(new Event("input", { bubbles: true }));
    }"""
    count = "document.querySelectorAll('#requests tbody tr').length"

    async def look(page: Page) -> None:
        mock.page(REVISION + 1)
        await page.until(f"{count} === 2")
        await page.run(f"({choose})('rule', 'gone <b>')")
        await page.until(f"{count} === 1")
        await page.run(f"({choose})('rule', '')")
        await page.run(f"({choose})('explain', 'slow')")
        await page.until(f"{count} === 2 && document.querySelectorAll('#requests .why').length === 2")
        assert "page wants Nowhere, has " in await page.run(text("#requests .why"))

    in_browser(opened, look)


def test_a_rule_is_added_removed_and_refused_with_reasons(opened: Opened) -> None:
    add = """(text) => {
      document.querySelector('#add').open = true;
      document.querySelector('#add textarea').value = text;
      document.querySelector('#add button').click();
    }"""

    async def look(page: Page) -> None:
        await page.run(f"""({add})('{{"name": "x", "do": {{"stauts": 404}}}}')""")
        await page.until("document.querySelector('#problems li')")
        assert "do.stauts: unknown key; did you mean 'status'?" in await page.run(text("#problems"))
        await page.run(f"""({add})('{{"name": "x", "do": {{"status": 404}}}}')""")
        await page.until("document.querySelectorAll('#rules tbody tr').length === 3")
        assert await page.run("document.querySelectorAll('#problems li').length") == 0
        await page.run("[...document.querySelectorAll('#rules button.remove')].at(-1).click()")
        await page.until("document.querySelectorAll('#rules tbody tr').length === 2")

    in_browser(opened, look)


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("path", ["/__mock/", "/docs"])
def test_it_fits(opened: Opened, mock: Any, width: int, path: str) -> None:
    async def look(page: Page) -> None:
        await page.size(width, dark=width == 768)
        await page.open(f"http://127.0.0.1:{mock.port}{path}")
        await page.until("document.querySelector('#requests tbody tr') || document.querySelector('.docs section')")
        await page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        wide = await page.run(
            """[...document.querySelectorAll("body *:not(svg *)")].filter((node) => !node.closest(".wide, pre")
              && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 200))"""
        )
        assert wide == []
        assert await page.run("document.documentElement.scrollWidth") <= width
        assert page.console == []

    in_browser(opened, look)


def test_a_mock_with_a_token_asks_for_it(start_mock: StartMock, tmp_path: Path, chromium: str) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    guarded = start_mock("--control-token-file", str(token))

    async def run() -> None:
        async with browser.tab(chromium) as page:
            await page.open(f"http://127.0.0.1:{guarded.port}/__mock/")
            await page.until("!document.querySelector('#token').hidden && document.querySelector('#link.lost')")
            await page.run("document.querySelector('#token input').value = 'secret'")
            await page.run("document.querySelector('#token button').click()")
            await page.until("document.querySelector('#token').hidden && document.querySelector('#link.live')")

    asyncio.run(run())
