"""The keys of a scenario file."""

from devkit.scenario.model import Scenario
from docs.generate.key_tables import key_sections
from docs.generate.keys import sections
from docs.generate.markdown import page

_CONFIGURATION = "part of the [configuration](configuration.md)"
_OF_ARM = f"{_CONFIGURATION}, and `programs`: [configuration and environment](#programs.name) by name"
ELSEWHERE = {
    "pipeline": _CONFIGURATION,
    "tried_first": f"by arm or by role, {_CONFIGURATION}",
    "timeline.do": "a [fault on a part](faults.md#faults-on-parts)",
    "timeline[].do": "a [fault on a part](faults.md#faults-on-parts)",
    "timeline[].when": "a [condition](../faults.md#conditions)",
    "Do": "[faults of the mock](faults.md#faults-of-the-mock)",
    "Expectation": "list of [expectations](expectations.md)",
}
_INTRODUCTION = """\
A scenario is one YAML file. `devkit scenario check FILE` names line, column and near miss of each problem; for
editors there is a JSON schema, `devkit/scenario/scenario.schema.json`. Durations, sizes, rates and shares are written
[as everywhere](../quantities.md). A key without a default, marked —, may be left out; what that means stands with
it."""


def scenario() -> str:
    """Every key, section by section."""
    found = sections(Scenario, elsewhere=ELSEWHERE)
    return page("Scenario", _INTRODUCTION, key_sections(found, top="Top level", with_examples=True))
