"""After an arm's end: what became of its events."""

from devkit.observe.kit_events import LatencyOfSecond
from devkit.scenario.arm.arm import Arm
from devkit.scenario.arm.collection import Collection, Ended, collection, pages_met


def collect(arm: Arm) -> None:
    """Raises StackError."""
    state, main = arm.state, arm.main
    assert state.end is not None
    assert state.counts is not None
    arm.scraper.write(arm.directory)
    arm.log.ended(state.end)
    state.duration_s = arm.clock.now_s()
    failed = arm.checkpoint.failed_range() if main.supervisor.exit_codes else None
    arm.log.say("audit", "every input against its fate")
    arm.publisher.manifest().write(arm.directory / "manifest.jsonl")
    mock = arm.context.stack.mock_api
    state.collection = collection(
        arm.traffic.source_events(arm.publisher),
        Ended(main.view.committed(), arm.deferrals.standing, failed, state.ended_ms),
        bootstrap=arm.bootstrap,
        topics=arm.topics,
        mock=mock,
        client=arm.client,
        pages_met=pages_met(arm.scenario.mock.rules, mock, state.counts),
        left_out=state.warmed_up,
    )
    log_latencies(arm, state.collection)


def log_latencies(arm: Arm, found: Collection) -> None:
    """By the second in which an event was published, from the arm's beginning on."""
    began_ms = arm.clock.began_ms + round(1000 * arm.state.paused_before_traffic_s)
    for at_s, latencies in found.latencies.by_second(began_ms):
        figures = latencies.figures()
        arm.log.add(
            LatencyOfSecond(
                at_s=at_s,
                count=len(latencies.events),
                waiting=figures.waiting,
                p50_s=figures.p50_s,
                p95_s=figures.p95_s,
                p99_s=figures.p99_s,
            )
        )
