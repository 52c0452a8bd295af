"""A page for each scenario of the repository, made from its file and its `incident.story`.

A page shows the plot of a real run, with the plot's own title and description, if `docs.generate.plots` has drawn one.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from ruamel.yaml import YAML

from devkit.expectations.registry import EXPECTATIONS
from devkit.faults.timeline_item import TimelineItem
from devkit.observe.arm_role import TWO_ARMS, ArmName, arms_named
from devkit.programs.apply_program import ApplyKind
from devkit.report.page.html import source_link
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from docs.generate.markdown import code, in_a_cell, page, table
from located_config.count import counted
from located_config.duration import format_duration
from located_config.flow import flow
from located_config.rate import format_rate

TOP = Path(__file__).parents[2]
SCENARIOS = TOP / "scenarios"
PLOTS = TOP / "docs" / "incidents"


def names() -> list[str]:
    """The scenarios that have a page: those of the repository."""
    return sorted(path.stem for path in SCENARIOS.glob("*.yaml"))


def incident(name: str) -> str:
    """The page of the scenario with this name."""
    file = SCENARIOS / f"{name}.yaml"
    scenario, written = load_scenario(file), YAML(typ="safe", pure=True).load(file)
    return page(
        f"{name}: {scenario.title[0].lower()}{scenario.title[1:]}",
        _source(scenario),
        scenario.incident.story.strip(),
        f"## Run it\n\n```console\n$ ./justw scenario {name}\n```\n\n{_outcome(scenario)}",
        _plot(name),
        "## What differs between the arms",
        _difference(scenario),
        "## What must hold",
        *(_expectations(scenario, arm, written["expect"]) for arm in scenario.roles),
        "## How it corresponds to the incident",
        _likeness(scenario),
        _runbooks(scenario),
        f"The scenario is the file `scenarios/{name}.yaml`; see [write a scenario](../scenarios.md) to change it.",
    )


def _source(scenario: Scenario) -> str:
    link = source_link(scenario.incident.reference)
    reference = f"[{scenario.incident.reference}]({link})" if link else scenario.incident.reference
    quote = f"> {in_a_cell(scenario.incident.quote)}\n\n" if scenario.incident.quote else ""
    return f"{quote}Source: {reference}."


def _outcome(scenario: Scenario) -> str:
    return (
        "Exit code 0 means that the incident was reproduced and that the fix works on the same traffic: events at "
        f"{format_rate(scenario.traffic.rate)} for {format_duration(scenario.traffic.for_)}, "
        f"seed {scenario.traffic.seed}. "
        "`runs/latest/report.html` has all plots and logs of the run ([evidence](../evidence.md))."
    )


def _plot(name: str) -> str:
    """The drawing with its own title as the text for those who do not see it, and its description below."""
    file = PLOTS / f"{name}.svg"
    if not file.exists():
        return ""
    svg = ET.fromstring(file.read_text(encoding="utf-8"))
    title, described = ((svg.findtext(f"{{http://www.w3.org/2000/svg}}{tag}") or "") for tag in ("title", "desc"))
    return f"## A real run\n\n![{in_a_cell(title)}]({name}.svg)\n\n{in_a_cell(described)}"


def _difference(scenario: Scenario) -> str:
    rows = [
        (f"[{code(key)}](../reference/configuration.md)", *(code(_setting(values[arm])) for arm in scenario.roles))
        for key, values in resolve(scenario).difference.items()
    ]
    tried = [arm for arm in scenario.roles if scenario.tried_first_in(arm) is not None]
    first = "".join(
        f"\n\nIn the {arm} arm, the operator first tries `{flow(scenario.tried_first_in(arm))}` in addition."
        for arm in tried
    )
    return table(("key", *(f"{arm} arm" for arm in scenario.roles)), rows) + first


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _expectations(scenario: Scenario, arm: ArmName, written: dict[str, list[dict[str, Any]]]) -> str:
    """In words, and as the file has them, which is how they are looked up."""
    of_arm = written[scenario.key_of(scenario.expect, arm)]
    rows = [
        (code(flow(item).removeprefix("{").removesuffix("}")), in_a_cell(EXPECTATIONS[one.kind].summary))
        for one, item in zip(scenario.expected_of(arm), of_arm, strict=True)
    ]
    return f"In the {arm} arm:\n\n{table(('expectation', 'meaning'), rows)}"


def _runbooks(scenario: Scenario) -> str:
    """Those of `apply`, for a scenario that runs it."""
    if not any(program.run == ApplyKind.name for program in scenario.programs.values()):
        return ""
    links = "[apply lag](../runbooks/apply-lag.md), [apply stopped](../runbooks/apply-stopped.md)"
    return f"In production: the runbooks {links} and [store diverges](../runbooks/store-diverges.md)."


def _likeness(scenario: Scenario) -> str:
    scale = (
        f"{scenario.time_scale:g} times faster than in production" if scenario.time_scale != 1 else "as in production"
    )
    rows = [
        ("preserved", scenario.preserves or "—"),
        ("time", scale),
        (
            "margin",
            f"a machine may be {scenario.margin:g} times slower than an idle one; beyond that the run is inconclusive "
            "([a busy machine](../headroom.md))",
        ),
        ("faults", _faults(scenario)),
    ]
    return table(("property", "in this scenario"), rows)


def _faults(scenario: Scenario) -> str:
    rules = [f"{code(rule.name)} of the mock" for rule in scenario.mock.rules]
    rules += [f"{code(item.name)} on {_arms(scenario, item)}" for _, item, _ in scenario.timeline_at()]
    return (
        f"{counted(len(rules), 'fault')}: {', '.join(rules)}; the kit must observe that each acts" if rules else "none"
    )


def _arms(scenario: Scenario, item: TimelineItem) -> str:
    named = arms_named(item.arms, scenario.roles)
    every = "both arms" if len(named) == len(TWO_ARMS) else "all arms"
    return every if len(named) == len(scenario.roles) else ", ".join(named)
