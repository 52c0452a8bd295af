"""All faults: those of the mock's rules, and those on parts."""

import inspect
from collections.abc import Iterable

from devkit.faults.fault import Fault
from devkit.faults.listing import parameters
from devkit.faults.registry import FAULTS as PART_FAULTS
from docs.generate.markdown import code, in_a_cell, page, prose, table, value_form
from located_config.flow import flow
from located_config.parameter import Parameter
from mockapi.control.fault_list import GROUPS, FaultDescription, described
from mockapi.faults.registry import FAULTS as MOCK_FAULTS

_INTRODUCTION = """\
The effect and the parameters of each fault. [Rules and faults](../faults.md) describes how to write them, and how the
kit proves that they acted. `devkit faults NAME` prints one of these descriptions."""

_MOCK = """\
## Faults of the mock

Write these under `do` of `mock.rules` in a [scenario](scenario.md#mock.rules), or in a rule of the mock alone.
Faults marked (\\*) depend on time, order or load. All others are a function of (seed, rule, key, attempt): the same
requests with the same `X-Request-Id`s get the same faults in every process, regardless of the number and speed of
clients."""

_PARTS = """\
## Faults on parts

What a scenario does to a broker, a store, the network, a program or the machine, under `do` of its
[timeline](scenario.md#timeline)."""


def faults() -> str:
    """The mock's faults by group, then those on parts in the order of the registry."""
    blocks = [_MOCK]
    for group, title in GROUPS.items():
        of_group = [one for one in described() if one.group == group]
        blocks += [f"### {title}", *(_mock_fault(one) for one in of_group)] if of_group else []
    return page("Faults", _INTRODUCTION, *blocks, _PARTS, *(_part_fault(one) for one in PART_FAULTS.values()))


def _mock_fault(fault: FaultDescription) -> str:
    text = MOCK_FAULTS[fault.name].docs or fault.summary
    mark = "" if fault.deterministic else " (\\*)"
    form = "" if fault.parameters else f"Value: {value_form(fault.form)}."
    return _fault("####", fault.name, flow(fault.example), f"{_sentence(text)}{mark}", form, _table(fault.parameters))


def _part_fault(fault: type[Fault]) -> str:
    text = prose(inspect.cleandoc(fault.__doc__ or ""))
    return _fault("###", fault.name, fault.example, _sentence(fault.summary), text, _table(parameters(fault)))


def _table(found: Iterable[Parameter]) -> str:
    return table(
        ("parameter", "what it says", "value", "default"),
        [(code(one.name), in_a_cell(one.description), value_form(one.form), _default(one)) for one in found],
    )


def _default(parameter: Parameter) -> str:
    return "**required**" if parameter.required else code(parameter.default) if parameter.default else "—"


def _fault(heading: str, name: str, example: str, *blocks: str) -> str:
    heading = f"{heading} {name} {{#{name}}}"
    return "\n\n".join([heading, *blocks[:1], f"```yaml\ndo: {{{name}: {example}}}\n```", *filter(None, blocks[1:])])


def _sentence(text: str) -> str:
    first = text[:1].upper() + text[1:] if text[:1] != "`" else text
    return first if first.endswith((".", ")")) else f"{first}."
