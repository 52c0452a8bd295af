"""The end of a run in plain text: expectations with measured values first, then the difference, then the evidence."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from devkit.observe.arm import AnyEvidence, Evidence, TimelineEvidence
from devkit.report.result import ArmResult, Result

_WIDTH = 80
_HOLDS = {True: "holds", False: "DOES NOT HOLD", None: "CANNOT BE JUDGED"}
_MARKS = {True: "ok  ", False: "FAIL", None: "n/a "}


def verdict_lines(result: Result, directory: Path) -> Iterator[str]:
    """Lines without line ends."""
    yield ""
    yield f"{result.scenario}: {result.outcome.upper()}"
    yield from _wrapped(f"{result.title} (seed {result.seed})", "  ")
    for name, arm in result.arms.items():
        yield ""
        holds = _HOLDS[arm.holds]
        yield f"{name} arm {holds} ({arm.duration_s:.1f} s, ended by: {arm.ended_by})"
        yield from _expectations(arm)
        for program in arm.programs:
            yield from _wrapped(program.text, f"  program {program.name}: ")
    if result.reasons:
        yield ""
        yield "why:"
        for reason in result.reasons:
            yield from _wrapped(reason, "  - ")
    yield ""
    yield "configuration difference:"
    if not result.config_difference:
        yield "  none: both arms ran the same configuration"
    for key, values in result.config_difference.items():
        yield from _wrapped(f"{values.incident} (incident) → {values.fixed} (fixed)", f"  {key}: ")
    yield ""
    yield "faults:"
    for name, evidence in result.fault_evidence.items():
        if not evidence:
            yield f"  {name}: none was injected"
        for item in evidence:
            yield from _wrapped(_describe(item), f"  {name}: ")
    yield from _machine(result)
    yield ""
    yield f"evidence: {directory}"
    if result.exit_code:
        yield f"repeat:   {result.repeat}"


def _machine(result: Result) -> Iterator[str]:
    """How much time the machine had; nothing where it was not watched."""
    run = result.headroom
    if run is None:
        return
    yield ""
    yield "machine:"
    yield from _wrapped(run.text, "  at the start: ")
    for name, arm in result.arms.items():
        if found := arm.headroom:
            text = f"{found.slowdown:.1f} times slower than when it is free"
            text += f", {found.worst_slowdown:.1f} in its slowest 10 s; the scenario leaves {found.limit:g}"
            yield from _wrapped(text, f"  {name}: ")
    if first := run.first_play:
        yield from _wrapped(f"was short of time; its evidence is in {first.directory}/", "  first play: ")


def _expectations(arm: ArmResult) -> Iterator[str]:
    for item in arm.expectations:
        mark = _MARKS[item.holds]
        yield from _wrapped(f"expected {item.expected}, measured {item.measured}", f"  {mark} {item.name}: ")
    for example in arm.audit.examples if arm.holds is False else ():
        yield from _wrapped(example, "       audit: ")


def _describe(item: AnyEvidence) -> str:
    return _describe_timeline(item) if isinstance(item, TimelineEvidence) else _describe_rule(item)


def _describe_timeline(item: TimelineEvidence) -> str:
    if item.from_s is None:
        came = f": {item.did}" if item.did else ""
        return f"{item.fault!r} never began ({item.asked}){came}"
    until = "" if item.to_s is None else f" to {item.to_s:.1f}"
    left = "".join(f"; cannot be undone: {text}" for text in item.irreversible)
    seen = "" if item.acted else "NOT SEEN TO ACT: "
    return f"{item.fault!r} ({item.asked}), {item.from_s:.1f}{until} s: {seen}{item.did}{left}"


def _describe_rule(item: Evidence) -> str:
    if not item.fired:
        return f"{item.fault!r} never fired"
    header = "absent" if item.max_content_length_bytes is None else f"{item.max_content_length_bytes:,} bytes"
    # Where all were answered 200 that is no news.
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(item.by_status.items()))
    answers = f" ({statuses})" if item.by_status.keys() - {"200"} else ""
    idle = f"; never acted: {item.inaction}" if item.acted is False else ""
    return (
        f"{item.fault!r} met {item.requests} requests{answers}; largest answer: Content-Length {header}, "
        f"{item.max_wire_bytes:,} on the wire, {item.max_real_bytes:,} decoded; slowest {item.max_duration_s:.2f} s"
        f"{idle}"
    )


def _wrapped(text: str, first: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]
