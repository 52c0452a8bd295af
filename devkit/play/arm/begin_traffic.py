"""The arm's traffic begins: before its programs, beside their start, or once the main one runs."""

from devkit.observe.timeline.kit_events import TrafficBegun
from devkit.play.arm.arm import Arm

_PATIENCE_S = 120
"""On top of the time that the traffic takes: for a broker that is slow to answer."""


def publish_backlog(arm: Arm) -> None:
    """All of it, where it is to lie in the source before a program starts. Raises StackError."""
    if arm.scenario.traffic_begins == "before the start":
        arm.stopping.callback(arm.publishing_ends.set)
        _begin(arm)
        arm.publisher.result(arm.scenario.traffic.last_event.total_seconds() + _PATIENCE_S)


def begin_traffic(arm: Arm) -> None:
    """Where it is time for that, and it has not begun yet."""
    if not arm.state.traffic_begun and (arm.scenario.traffic_begins == "at once" or arm.main.is_running):
        _begin(arm)


def _begin(arm: Arm) -> None:
    state = arm.state
    state.traffic_begun = True
    state.paused_before_traffic_s = arm.pause("traffic") or 0
    arm.log.add(TrafficBegun())
    arm.publisher.start()
    state.traffic_begun_s = arm.clock.now_s()
