"""The verdict in plain text. A run that passed gets few lines, with its measurements. Any other begins with the first
errors of the program and ends with the command that repeats it (`devkit.report.explanation`).
"""

from collections.abc import Iterator
from pathlib import Path

from devkit.observe.arm_observation import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.figures import answers_text
from devkit.observe.settings import not_as_shipped
from devkit.report.explanation import CAUSE, also_differs, difference, explanation, headline, what_next
from devkit.report.result import ArmResult, Result
from devkit.report.text_layout import wrapped
from located_config.count import counted

_HOLDS = {True: "holds", False: "DOES NOT HOLD", None: "CANNOT BE JUDGED"}


def verdict_lines(result: Result, directory: Path, width: int | None = None) -> Iterator[str]:
    """Lines without line ends; with None for the width, a line for each statement."""
    yield ""
    passed = not result.exit_code
    outcome, _, more = headline(result).partition(": ")
    yield from wrapped(f"{outcome.upper()}{': ' if more else ''}{more}", f"{result.scenario}: ", width)
    for text in (also_differs(result), what_next(result)):
        if text:
            yield from wrapped(text, "  ", width)
    yield from wrapped(f"{result.title} (seed {result.seed})", "  ", width)
    if changed := not_as_shipped(result.changes):
        yield from wrapped(changed, "  ", width)
    yield from _passed(result, width) if passed else _failed(result, width)
    yield ""
    # Not wrapped: both are to be copied.
    yield f"evidence: {directory}"
    if not passed:
        yield f"repeat:   {result.repeat}"


def _passed(result: Result, width: int | None) -> Iterator[str]:
    for name, arm in result.arms.items():
        yield ""
        yield from wrapped(_arm(name, arm), "", width)
        for item in arm.expectations:
            yield from wrapped(f"{item.measured} (expected {item.expected})", f"  ok   {item.name}: ", width)
        yield from _programs(arm, width)
    yield ""
    yield "configuration difference:"
    for line in difference(result):
        yield from _hanging(line, width)
    yield from _faults(result, width, in_full=False)
    if result.headroom is not None and result.headroom.stretch > 1:
        yield from _machine(result, width)


def _failed(result: Result, width: int | None) -> Iterator[str]:
    for part in explanation(result):
        yield ""
        yield f"{part.title}:"
        for line in part.lines:
            yield from _hanging(line, width)
    yield ""
    for name, arm in result.arms.items():
        held = [item.name for item in arm.expectations if item.holds]
        kept = f"; these hold: {', '.join(held)}" if held and not arm.holds else ""
        yield from wrapped(f"{_arm(name, arm)}{kept}", "", width)
        yield from _programs(arm, width)
    yield from _faults(result, width, in_full=True)
    yield from _machine(result, width)


def _hanging(line: str, width: int | None) -> list[str]:
    """Further lines stand below what follows the arm or the key."""
    head, colon, rest = line.partition(": ")
    return wrapped(rest, f"  {head}{colon}", width) if colon else wrapped(line, "  ", width)


def _arm(name: str, arm: ArmResult) -> str:
    gave_up = f", {arm.given_up}" if arm.given_up else ""
    return f"{name} arm {_HOLDS[arm.holds]} ({arm.duration_s:.1f}s, ended by: {arm.ended_by}{gave_up})"


def _programs(arm: ArmResult, width: int | None) -> Iterator[str]:
    for program in arm.programs:
        yield from wrapped(program.text, f"  program {program.name}: ", width)


def _faults(result: Result, width: int | None, *, in_full: bool) -> Iterator[str]:
    if result.cause:
        yield ""
        yield from wrapped(f"{CAUSE}:", "cause: ", width)
        for cause in result.cause:
            yield from wrapped(cause.did, f"  {cause.status if cause.shown else 'NOT SHOWN'} {cause.cause}: ", width)
    yield ""
    yield "faults:"
    for name, evidence in result.fault_evidence.items():
        if not evidence:
            yield f"  {name}: no fault was injected"
        for item in evidence:
            yield from wrapped(_describe(item, in_full=in_full), f"  {name}: ", width)


def _describe(item: AnyEvidence, *, in_full: bool) -> str:
    return _describe_timeline(item) if isinstance(item, TimelineEvidence) else _describe_rule(item, in_full=in_full)


def _describe_timeline(item: TimelineEvidence) -> str:
    if item.from_s is None:
        came = f": {item.did}" if item.did else ""
        return f"{item.fault!r} never began ({item.asked}){came}"
    until = "" if item.to_s is None else f" to {item.to_s:.1f}s"
    left = "".join(f"; cannot be undone: {text}" for text in item.irreversible)
    seen = "" if item.acted else "NOT SEEN TO ACT: "
    empty = f"; no record came to {item.unreached} afterwards" if item.unreached else ""
    return f"{item.fault!r} ({item.asked}), {item.from_s:.1f}s{until}: {seen}{item.did}{left}{empty}"


def _switched(item: Evidence) -> str:
    """When the kit switched the rule, where it does."""
    if item.switches is None:
        return ""
    if not item.switches:
        return "; never switched: its part of the traffic did not come"
    times = [(f"{'on' if switch.on else 'off'} at {switch.at_s:.1f}s", switch.published) for switch in item.switches]
    return "".join(f"; switched {when}, with {counted(published, 'event')} published" for when, published in times)


def _describe_rule(item: Evidence, *, in_full: bool) -> str:
    switched = _switched(item)
    if not item.fired:
        return f"{item.fault!r} matched no request{switched}{item.spans}"
    # Answers that are all 200 need no mention.
    answers = f" ({answers_text(item.by_status)})" if item.by_status.keys() - {"200"} else ""
    idle = f"; never acted: {item.inaction}" if item.acted is False else ""
    matched = f"{item.fault!r} matched {counted(item.requests, 'request')}{answers}{switched}"
    if not in_full:
        return f"{matched}{idle}"
    header = "absent" if item.max_content_length_bytes is None else f"{item.max_content_length_bytes:,}"
    return (
        f"{matched}; largest answer in bytes: {item.max_real_bytes:,} decoded, {item.max_wire_bytes:,} on the wire, "
        f"Content-Length {header}; slowest answer: {item.max_duration_s:.2f}s{idle}"
    )


def _machine(result: Result, width: int | None) -> Iterator[str]:
    """How much time the machine had; nothing where it was not watched."""
    at_start = result.headroom
    if at_start is None:
        return
    yield ""
    yield "machine:"
    yield from wrapped(at_start.text, "  at the start: ", width)
    for name, arm in result.arms.items():
        if headroom := arm.headroom:
            text = f"{headroom.slowdown:.1f} times slower than when it is free"
            text += f", {headroom.worst_slowdown:.1f} in its slowest 10s; the scenario allows {headroom.limit:g}"
            yield from wrapped(text, f"  {name}: ", width)
    if first := at_start.first_play:
        yield from wrapped(f"was short of time; its evidence is in {first.directory}/", "  first play: ", width)
