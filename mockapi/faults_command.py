"""`mockapi faults`: what a rule can do, for people and, with `--json`, for programs."""

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from located_config.near import near_miss
from mockapi.command_parser import CommandParser
from mockapi.control.fault_list import GROUPS, FaultDescription, described, rule_example
from mockapi.errors import InputFileError
from mockapi.inputs import add_option, load_extensions

_WIDTH = 100


def main(arguments: Sequence[str]) -> int:
    """Prints all faults, or one; returns the exit code, 2 for a name that is no fault's."""
    options = command_line().parse(arguments)
    try:
        load_extensions(options.extend)
    except InputFileError as error:
        sys.stderr.write(f"mockapi: {error}\n")
        return error.exit_code
    faults = described()
    if options.name is not None:
        faults = tuple(fault for fault in faults if fault.name == options.name)
        if not faults:
            known = [fault.name for fault in described()]
            sys.stderr.write(f"mockapi: no fault {options.name!r}; {near_miss(options.name, known)}\n")
            return 2
    if options.json:
        sys.stdout.write(json.dumps([asdict(fault) for fault in faults], ensure_ascii=False, indent=2) + "\n")
        return 0
    lines = _describe_fault(faults[0]) if options.name is not None else _describe_all(faults)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _describe_all(faults: Sequence[FaultDescription]) -> Iterator[str]:
    for group, title in GROUPS.items():
        in_group = [fault for fault in faults if fault.group == group]
        if in_group:
            yield f"{title}"
        for fault in in_group:
            yield from _wrapped(f"  {fault.name}", f"{fault.summary}{_mark(fault)}", indent=4)
            if fault.parameters:
                yield from _wrapped("    takes", ", ".join(parameter.name for parameter in fault.parameters), indent=10)
            yield f"    {rule_example(fault)}"
    yield "(*) depends on time, order or load; all others are a function of seed, rule, key and attempt"
    yield "`mockapi faults NAME` says what a parameter may be"


def _describe_fault(fault: FaultDescription) -> Iterator[str]:
    yield from _wrapped(fault.name, f"{fault.summary}{_mark(fault)}", indent=2)
    yield from _wrapped("  is", fault.form, indent=5)
    width = max((len(parameter.name) for parameter in fault.parameters), default=0)
    for parameter in fault.parameters:
        need = " (required)" if parameter.required else ""
        yield from _wrapped(f"  {parameter.name:{width}}", f"{parameter.form}{need}", indent=width + 4)
        yield from _wrapped(" " * (width + 2), parameter.description, indent=width + 4) if parameter.description else ()
    yield f"  {rule_example(fault)}"
    if not fault.deterministic:
        yield "(*) depends on time, order or load"


def _mark(fault: FaultDescription) -> str:
    return "" if fault.deterministic else " (*)"


def _wrapped(name: str, text: str, *, indent: int) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{name}  ", subsequent_indent=" " * indent)


def command_line() -> CommandParser:
    """The options of `python -m mockapi faults`."""
    parser = CommandParser(prog="mockapi faults", description="Lists the faults that a rule can have.")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="Show only this fault, with the values that its parameters accept."
    )
    add_option(parser)
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    return parser
