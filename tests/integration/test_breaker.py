"""An upstream that is down is left alone: it is probed and not asked, and the lag stays in the source.

Set-up: traffic that goes on, and an upstream that answers 503 to everything from some moment until the test mends it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.crash.bench import Bench, Run

ROOMS = ("pipeline/fetch",)
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "40/s",
    "for": "25s",
    "population": 40,
    "pages": {"Busy": {"edits": 40}},
}
BATCH = 100
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": BATCH, "trigger": "500ms"},
    "fetch": {"concurrency": 8, "backoff": "50ms"},
    # All events are of one wiki: there is no other to go on for.
    "breaker": {
        "minimum_requests": 6,
        "window": "1s",
        "open_for": "1s",
        "open_for_cap": "2s",
        "trial_requests": 3,
        "deferred_share": "0%",
    },
    # So few tries would not outlast the outage if it cost any; what fails before the job knows of it is tried later.
    "deferral": {"slow_lane": {"attempts": 3, "backoff": "10s", "backoff_cap": "10s"}},
}
# What the workers ask until they know: what opens each one's breaker, which answers of the last second that were well
# delay, and what is in flight then. A batch that went on would ask for 200 revisions, and for some of them again.
ASKED_UNTIL_OPEN = 100
# A slow round that was under way when the main lane found out is made to its end.
LOOKS = 3
# Of a wiki that is well one is enough, and one more may have been on its way when the wiki was mended.
PROBES_OF_A_WELL_WIKI = 4


@pytest.mark.slow
def test_an_outage_is_a_wait_and_not_a_copy_of_the_source(make_bench: MakeBench) -> None:
    """Steps: some batches commit, the upstream goes down, the job waits, is stopped and started, and waits again; the
    upstream is mended. Checked: requests are bounded and then those of the probes, the ledger holds no more than the
    batches that met the outage, lag is there; at the end all have left, in order, and none for its tries.
    """
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=SETTINGS)
    bench.publish()
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) >= BATCH, "the first batches to commit")
    bench.add_rule(name="down", do={"status": 503})
    left_alone(bench, run)
    run.await_condition(lambda: len(run.logged("breaker_probe", healthy=False)) >= 3, "some probes to be refused")
    run.await_condition(lambda: lag(bench) > 2 * BATCH, "the lag to be there, in the source")
    assert 0 < bench.deferred() <= 2 * BATCH
    assert run.terminate() == 0

    asked = len(bench.entries("down"))
    run = bench.start()
    left_alone(bench, run, asked)
    assert 0 < bench.deferred() <= 4 * BATCH
    bench.remove_rule("down")
    probes = len(run.logged("breaker_probe"))
    run.await_condition(
        lambda: run.logged("resumed") or len(run.logged("breaker_probe")) - probes >= PROBES_OF_A_WELL_WIKI,
        "the job to go on, or the wiki to be probed on and on",
    )
    assert run.logged("resumed"), "a wiki that is well was probed on and on"
    assert run.logged("breaker_closed", wiki="enwiki")[0]["probes"] >= 1
    bench.await_drained(run)
    bench.end()
    audit = bench.assert_clean(restarted=True)
    assert bench.deferred_ever() < audit.inputs / 2


def left_alone(bench: Bench, run: Run, asked_before: int = 0) -> None:
    """The job finds out that the upstream is down, and waits; nothing but probes goes there from then on."""
    run.await_condition(
        lambda: (
            run.logged("waiting")
            or begun_while_open(run)
            or len(bench.entries("down")) - asked_before > ASKED_UNTIL_OPEN
        ),
        "the job to wait, or to go on",
    )
    waits = run.logged("waiting")
    assert waits or not begun_while_open(run), "a batch was begun while the breaker was open"
    assert waits, "a wiki that is down was asked on and on"
    assert waits[0]["reason"].startswith("breaker open: enwiki; ")
    assert run.logged("breaker_open", wiki="enwiki")
    batches = len(run.logged("batch_started"))
    others = len(bench.entries("down")) - asked_before - len(run.logged("breaker_probe"))
    assert others <= ASKED_UNTIL_OPEN
    for _ in range(LOOKS):
        # One probe may be there and not yet said, or said and not yet counted.
        if abs(others := besides_probes(bench, run)) <= 1:
            break
    assert abs(others) <= 1, "more than probes went to a wiki that is down"
    assert len(run.logged("batch_started")) == batches


def begun_while_open(run: Run) -> list[dict[str, Any]]:
    """The batches that the job began when it knew that the wiki is down."""
    opened = run.logged("breaker_open", wiki="enwiki")
    since = run.lines[run.lines.index(opened[0]) :] if opened else []
    return [line for line in since if line["event"] == "batch_started"]


def besides_probes(bench: Bench, run: Run) -> int:
    """How many other requests come in the time of two probes."""
    asked, probes = len(bench.entries("down")), len(run.logged("breaker_probe"))
    run.await_condition(lambda: len(run.logged("breaker_probe")) >= probes + 2, "the wiki to be probed")
    return len(bench.entries("down")) - asked - (len(run.logged("breaker_probe")) - probes)


def lag(bench: Bench) -> int:
    return bench.source_end() - sum(bench.committed().values())
