"""`junit.xml`: a test suite for each arm, a test case for each expectation, and one for the verdict; after an ablation
also one for each difference.

It is written before the first arm and after each. Unfinished cases are errors: a killed run never looks like success.
Refuted is a failure, inconclusive an error; its text is that of every report (`devkit.report.explanation`). The format
is Jenkins' `junit-10.xsd`, which other readers understand.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from devkit.errors import INCONCLUSIVE, REPRODUCED_AND_FIXED
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.report.ablation import Ablation, holds_text
from devkit.report.expectation_result import ExpectationResult
from devkit.report.explanation import explanation, headline, what_next
from devkit.report.result import ArmResult, Result

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTED = ("failure", "error", "skipped")


def junit_xml(
    metadata: RunMetadata,
    arms: Mapping[ArmName, ArmResult],
    *,
    result: Result | None = None,
    broke_off: str | None = None,
    output: str = "",
) -> str:
    """The document. `arms` are those that have ended, `broke_off` says why the others never will, `output` is text of
    the whole run.
    """
    missing = broke_off or "it has not ended"
    suites = [_arm_suite(metadata, arm, arms.get(arm), missing) for arm in metadata.arms]
    suites.append(_verdict_suite(metadata, result, missing, output))
    if result is not None and result.ablation is not None:
        suites.append(_ablation_suite(metadata, result.ablation))
    root = ET.Element("testsuites", {"name": f"devkit scenario {metadata.scenario}"})
    root.extend(suites)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{result.duration_s if result else sum(arm.duration_s for arm in arms.values()):.3f}")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _arm_suite(metadata: RunMetadata, arm: str, result: ArmResult | None, missing: str) -> ET.Element:
    name = f"{metadata.scenario}.{arm}"
    if result is None:
        case = _case(name, "arm")
        _add(case, "error", _first_line(missing), f"the {arm} arm: {missing}")
        return _suite(metadata, name, [case])
    cases = [_expectation(name, item) for item in result.expectations]
    suite = _suite(metadata, name, cases, time_s=result.duration_s)
    properties = ET.Element("properties")
    figures = {"ended_by": result.ended_by, "restarts": result.restarts, "replayed_offsets": result.replayed_offsets}
    for key, value in figures.items():
        ET.SubElement(properties, "property", {"name": key, "value": _text(str(value))})
    suite.insert(0, properties)
    return suite


def _expectation(suite: str, item: ExpectationResult) -> ET.Element:
    # Two expectations of one kind differ in what they expect.
    case = _case(suite, f"{item.name}: {item.expected}")
    if item.holds is None:
        _add(case, "skipped", item.measured, item.measured)
    elif not item.holds:
        _add(case, "failure", item.sentence, item.sentence)
    return case


def _verdict_suite(metadata: RunMetadata, result: Result | None, missing: str, output: str) -> ET.Element:
    name = f"{metadata.scenario}.verdict"
    case = _case(name, _hoped_for(metadata))
    if result is None:
        _add(case, "error", f"no verdict: {_first_line(missing)}", f"{missing}\nrepeat: {metadata.repeat}")
    elif result.exit_code != REPRODUCED_AND_FIXED:
        kind = "error" if result.exit_code == INCONCLUSIVE else "failure"
        _add(case, kind, headline(result), _explained(result, metadata.repeat))
    if output:
        ET.SubElement(case, "system-out").text = _text(output)
    return _suite(metadata, name, [case], time_s=result.duration_s if result else 0)


def _ablation_suite(metadata: RunMetadata, ablation: Ablation) -> ET.Element:
    """A case for each difference: needed or not, both are an answer. An error is one of which it is not known."""
    name = f"{metadata.scenario}.ablation"
    cases = []
    for item in ablation.differences:
        case = _case(name, f"{ablation.arm} without {item.difference}")
        if item.needed == "unclear":
            lines = [item.reason, *([f"next: {item.next_step}"] if item.next_step else [])]
            _add(case, "error", f"not known whether the fix needs it: {_first_line(item.reason)}", "\n".join(lines))
        measured = [
            f"{holds_text(expectation)}  {expectation.name}: {expectation.measured} (expected {expectation.expected})"
            for expectation in ablation.broken_in_a_play(item.expectations)
        ]
        lines = [f"needed: {item.needed}", f"turned back: {item.change}", item.outcome or "not played", *measured]
        ET.SubElement(case, "system-out").text = _text("\n".join(lines))
        cases.append(case)
    return _suite(metadata, name, cases)


def _hoped_for(metadata: RunMetadata) -> str:
    """The outcome with which a run of these arms passes."""
    roles = {metadata.roles[arm] for arm in metadata.arms}
    return "reproduced and fixed" if len(roles) > 1 else f"{roles.pop()} arm holds"


def _explained(result: Result, repeat: str) -> str:
    """In the order of the terminal's output, a line a statement."""
    lines = [following] if (following := what_next(result)) else []
    for part in explanation(result):
        lines += [f"{part.title}:", *(f"  {' '.join(line.split())}" for line in part.lines)]
    return "\n".join([*lines, f"repeat: {repeat}"])


def _suite(metadata: RunMetadata, name: str, cases: Sequence[ET.Element], *, time_s: float = 0) -> ET.Element:
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in _COUNTED}
    suite = ET.Element(
        "testsuite",
        {
            "name": _text(name),
            "tests": str(len(cases)),
            "failures": str(counts["failure"]),
            "errors": str(counts["error"]),
            "skipped": str(counts["skipped"]),
            "time": f"{time_s:.3f}",
        },
    )
    if metadata.began:
        suite.set("timestamp", metadata.began.strftime("%Y-%m-%dT%H:%M:%S"))
    suite.extend(cases)
    return suite


def _first_line(text: str) -> str:
    """What an attribute can hold; the rest of an error is the end of a log."""
    return next(iter(text.splitlines()), "")


def _case(suite: str, name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": _text(suite), "name": _text(name)})


def _add(case: ET.Element, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, kind, {"message": _text(message), "type": kind}).text = _text(text)


def _text(text: str) -> str:
    """Without the characters that no XML may hold; a log may."""
    return _NOT_XML.sub("\ufffd", text)
