"""The report in a real browser: it runs without complaint, fits a telephone, and the pointer reads its plots.

Set-up: headless Chromium, without a network, shows a page of the test that has the report in frames of several widths.
Checked: nothing on the console, no horizontal overflow, the values under the pointer.
"""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from devkit.report.page.page import render_page
from devkit.report.run_record import read_run
from tests.unit.devkit.report import storm

ROOMS = ("devkit/report",)
WIDTHS = (360, 768, 1280)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=8000"),
    # The outer page looks into its frames, which are files.
    *("--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"),
)
_LOOK = """
<script>
const look = () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, plane = page.querySelector(".panel .plane");
    const box = plane.getBoundingClientRect();
    const point = (share) => {
      plane.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * share, bubbles: true }));
      return [...page.querySelectorAll(".readout:not([hidden])")].map((node) => node.textContent);
    };
    const read = point(0.5), late = point(0.95);
    plane.dispatchEvent(new PointerEvent("pointerleave"));
    found[frame.width] = {
      inner: frame.contentWindow.innerWidth,
      scroll: page.documentElement.scrollWidth,
      wide: [...page.querySelectorAll("body *:not(svg *)")].filter(
        (node) => node.getBoundingClientRect().right > frame.contentWindow.innerWidth + 0.5
          && getComputedStyle(node).position !== "absolute",
      ).map((node) => `${node.tagName}.${node.className.baseVal ?? node.className}`),
      plots: page.querySelectorAll(".plane").length,
      read,
      late,
      after: page.querySelectorAll(".readout:not([hidden])").length,
    };
  }
  document.querySelector("#found").textContent = JSON.stringify(found);
};
window.addEventListener("load", look);
</script>
"""


@dataclass(frozen=True)
class Seen:
    """What the browser showed at each width, and what it wrote to its console."""

    at: dict[str, dict[str, Any]]
    console: list[str]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        pytest.skip("NOT TESTED: there is no Chromium on PATH, so nobody looked at the report in a browser")
    place = tmp_path_factory.mktemp("browser")
    run = storm.write_run(place / "run")
    (run / "report.html").write_text(render_page(read_run(run)))
    frames = "".join(f'<iframe src="run/report.html" width="{width}" height="900"></iframe>' for width in WIDTHS)
    (place / "outer.html").write_text(f'<!DOCTYPE html><meta charset="utf-8">{frames}<pre id="found"></pre>{_LOOK}')
    finished = subprocess.run(
        [browser, *_OPTIONS, f"--user-data-dir={place / 'profile'}", (place / "outer.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r'<pre id="found">(.+?)</pre>', finished.stdout, re.DOTALL)
    assert found, finished.stderr[-2000:]
    console = [line for line in finished.stderr.splitlines() if "CONSOLE" in line]
    return Seen(json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")), console)


def test_nothing_is_complained_of(seen: Seen) -> None:
    assert seen.console == []


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits(seen: Seen, width: int) -> None:
    at = seen.at[str(width)]
    assert at["wide"] == []
    assert at["scroll"] <= at["inner"] <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_the_pointer_reads_all_plots_at_one_moment(seen: Seen, width: int) -> None:
    at = seen.at[str(width)]
    assert at["plots"] > 20
    assert len(at["read"]) == at["plots"]
    assert {text.split(":")[0] for text in at["read"]} == {"22.0 s"}
    assert re.fullmatch(r"22\.0 s: committed \d+, published 200", at["read"][0])
    assert at["after"] == 0


def test_beyond_its_end_an_arm_has_no_values(seen: Seen) -> None:
    """The fixed arm has ended by then, and it had drained its last batch long before."""
    read = seen.at["1280"]["late"]
    assert re.fullmatch(r"41\.8 s: committed \d+, published 200", read[0])
    assert read[1] == "41.8 s: committed —, published —"
    assert {text for text in read if "batch" in text} == {"41.8 s: batch —"}
