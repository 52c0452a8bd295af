"""`pipeline deferred` on a job that runs and on one that has stopped.

Set-up: three pages answer 504, and would be tried again after ten minutes. Steps: list, show; retry one and drop
another while the job runs; stop it, drop the third, and start it again. Checked: what is retried leaves as usual, what
is dropped leaves as an error event before the later events of its page.
"""

import json
from collections.abc import Callable
from typing import Any

from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/deferral", "pipeline/ops")
MakeBench = Callable[..., Bench]

PAGES = ("Ill", "Bad", "Worse")
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 3,
    "rate": "200/s",
    "for": "100ms",
    "population": 5,
    "pages": {page: {"edits": 3} for page in PAGES},
}
RULES = [{"name": page, "when": {"page": page}, "do": {"status": 504}} for page in PAGES]
SETTINGS: dict[str, Any] = {"deferral": {"slow_lane": {"backoff": "10m"}}}


def test_an_operator_retries_and_drops(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: bench.deferred() == 9, "all events of the three pages to be deferred")
    heading, *rows = bench.command("deferred", "list").stdout.splitlines()
    assert heading.split()[0] == "position"
    assert len(rows) == 9
    stuck = [row.split()[0] for row in rows if " stuck " in row]
    assert len(stuck) == 3
    assert all("status 504" in row for row in rows if " stuck " in row)
    of_page = {page_of(bench, position): position for position in stuck}
    assert set(of_page) == set(PAGES)
    unknown = bench.command("deferred", "show", f"{bench.config.source.topic}/0/999999")
    assert unknown.returncode == 2
    assert "is not deferred" in unknown.stderr

    for page in PAGES:
        bench.remove_rule(page)
    assert carried_out(bench, "retry", of_page["Ill"])
    run.await_condition(lambda: bench.deferred() == 6, "the retried page to leave")
    assert carried_out(bench, "drop", of_page["Bad"])
    run.await_condition(lambda: bench.deferred() == 3, "the dropped event's page to leave")
    assert run.terminate() == 0

    output = bench.command("deferred", "drop", of_page["Worse"], "--wait", "0").stdout
    assert output == f"{of_page['Worse']}: recorded; the job carries it out when it runs\n"
    assert len(bench.command("deferred", "list").stdout.splitlines()) == 4
    run = bench.start()
    run.await_line("command", action="drop", position=of_page["Worse"], found=True)
    bench.await_drained(run)
    assert bench.command("deferred", "list").stdout == "nothing is deferred\n"
    bench.end()
    # The two that were given up were made to have an output.
    audit = bench.audit()
    assert audit.problems() == {"misrouted": 2}, audit.examples
    for page in ("Bad", "Worse"):
        assert_order(bench, page, of_page[page])


def page_of(bench: Bench, position: str) -> str:
    shown = bench.command("deferred", "show", position).stdout
    return next(page for page in PAGES if f'"page_title":"{page}"' in shown)


def carried_out(bench: Bench, action: str, position: str) -> bool:
    result = bench.command("deferred", action, position, "--wait", "60")
    assert result.returncode == 0, result.stderr
    return result.stdout == f"{position}: carried out\n"


def assert_order(bench: Bench, page: str, dropped: str) -> None:
    """The error event of the page's first event was there before the outputs of the page's later events."""
    (error,) = [arrival for arrival in bench.errors() if "/".join(map(str, arrival.source or ())) == dropped]
    assert json.loads(error.value)["error_type"] == "dropped_by_operator"
    later = [arrival for arrival in bench.outputs() if json.loads(arrival.value)["page"]["page_title"] == page]
    assert len(later) == 2
    assert all(error.timestamp_ms <= arrival.timestamp_ms for arrival in later)
