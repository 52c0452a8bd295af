"""The page's tables of faults, with the evidence that each acted: faults on parts, and rules of the mock."""

from collections.abc import Iterator
from dataclasses import dataclass

from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.report.page.numbers import duration, number
from devkit.report.result import Result


@dataclass(frozen=True)
class PartFaultRow:
    """A fault on a part, network, store, program or the machine in one arm; `time` is empty where it never began."""

    fault: str
    arm: str
    acted: str
    asked: str
    time: str
    seen: str


@dataclass(frozen=True)
class RuleFaultRow:
    """A rule of the mock in one arm."""

    fault: str
    arm: str
    acted: str
    requests: str
    content_length: str
    wire: str
    decoded: str
    slowest: str


@dataclass(frozen=True)
class FaultTables:
    """Both tables, and the arms that had no fault at all."""

    on_parts: tuple[PartFaultRow, ...]
    of_rules: tuple[RuleFaultRow, ...]
    arms_without_faults: tuple[str, ...]


def fault_tables(result: Result) -> FaultTables:
    """Of all arms, in their order."""
    items = [(arm, item) for arm, items in result.fault_evidence.items() for item in items]
    return FaultTables(
        tuple(_part(arm, item) for arm, item in items if isinstance(item, TimelineEvidence)),
        tuple(_rule(arm, item) for arm, item in items if isinstance(item, Evidence)),
        tuple(arm for arm, items in result.fault_evidence.items() if not items),
    )


def _part(arm: str, item: TimelineEvidence) -> PartFaultRow:
    acted = "✓ yes" if item.acted else "✗ began, but was not seen to act" if item.fired else "✗ never began"
    return PartFaultRow(item.fault, arm, acted, item.asked, _time(item), "; ".join(_seen(item)))


def _time(item: TimelineEvidence) -> str:
    if item.from_s is None:
        return ""
    return f"from {number(item.from_s)} s" if item.to_s is None else f"{number(item.from_s)} to {number(item.to_s)} s"


def _seen(item: TimelineEvidence) -> Iterator[str]:
    if item.did:
        yield item.did
    yield from (f"cannot be undone: {text}" for text in item.irreversible)
    if item.hides:
        yield f"not observable because of it: {item.hides}"


def _rule(arm: str, item: Evidence) -> RuleFaultRow:
    acted = "✓ yes"
    if not item.fired:
        acted = "✗ no request matched it"
    elif item.acted is False:
        acted = f"✗ matched, but did not act: {item.inaction}"
    length = item.max_content_length_bytes
    return RuleFaultRow(
        item.fault,
        arm,
        acted,
        number(item.requests),
        "absent" if length is None else number(length),
        number(item.max_wire_bytes),
        number(item.max_real_bytes),
        duration(item.max_duration_s),
    )
