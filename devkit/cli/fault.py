"""`devkit fault add | list | remove`: faults of a stack that is up."""

import contextlib
import json
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from devkit.cli.chosen_stack import MOCK_API, address_of, run_id_option, running_stack
from devkit.cli.options import extend_option
from devkit.errors import UsageError
from located_config.count import counted
from located_config.flow import flow

if TYPE_CHECKING:
    from devkit.debug.mock_faults import FaultControl, MockFault
    from devkit.faults.journal import Entry
    from devkit.faults.timeline_item import TimelineItem
    from devkit.guardian.run_state import RunState

_DO = ("status", "latency")
_WHEN = ("share", "page")
_PLAIN_CHARACTERS = 60


@click.group(short_help="Add, list and remove faults on a stack that is up.")
def fault() -> None:
    """Add, list and remove faults on a stack that is up, also one that a running scenario uses."""


@fault.command(short_help="Add faults, by options or from a file or scenario.")
@click.argument("faults", nargs=-1, metavar="[FILE|SCENARIO|YAML]...")
@click.option("--do", "do_", metavar="YAML", help="What the fault does, as YAML, for example '{pause: {part: kafka}}'.")
@click.option(
    "--at",
    metavar="TIME",
    help="Begin the fault this long after the command, for example 10s. For faults on parts, such as a broker; a rule "
    "of the mock has `window` instead. Default: at once.",
)
@click.option("--status", type=int, metavar="CODE", help="Answer with this status instead of the page.")
@click.option("--latency", metavar="TIME", help="Wait this long before the answer, for example 300ms.")
@click.option(
    "--share",
    metavar="SHARE",
    help="Match only requests for this share of all pages, for example 5%. Default: all pages.",
)
@click.option("--page", metavar="TITLE", help="Match only requests for the page of this title. Default: all pages.")
@click.option(
    "--for",
    "for_",
    metavar="TIME",
    help="End the fault this long after it began, for example 30s. Default: it stays until it is removed.",
)
@click.option("--name", help="Name of the fault. Default: made of what it does.")
@extend_option
@run_id_option
def add(
    faults: tuple[str, ...],
    do_: str | None,
    at: str | None,
    for_: str | None,
    name: str | None,
    run_id: str | None,
    extend: tuple[str, ...],  # noqa: ARG001 — the option has loaded them
    **given: Any,
) -> None:
    """Add faults: from a file, from a scenario, as YAML, or from the options.

    \b
    devkit fault add --status 504 --share 5%
    devkit fault add --latency 2s --page "Main Page" --for 30s
    devkit fault add --do '{pause: {part: kafka}}' --for 10s
    devkit fault add 'name: x, do: {status: {code: 503, retry_after: 5s}}'
    """  # noqa: D301 — click's mark for lines that stay as they are
    from devkit.cli.scenario_directory import scenario_directory
    from devkit.debug.fault_text import read_faults
    from devkit.debug.mock_faults import FaultControl
    from devkit.faults.manual_faults import is_on_a_part, parse, require_known_part_fault

    run = running_stack(run_id)
    control = FaultControl(address_of(run, MOCK_API))
    written = _parsed_do(do_)
    if written is not None and is_on_a_part(written):
        if faults or any(value is not None for value in given.values()):
            raise UsageError("--do on a part goes with --at, --for and --name only", hint=_MORE)
        _add_on_a_part(run, parse(written, name=name, at=at, for_=for_), control, run_id)
        return
    if written is not None:
        require_known_part_fault(written)
    if at is not None:
        raise UsageError("--at is for faults on parts", hint="a rule of the mock has `window` in its `when`")
    documents = [dict(document) for text in faults for document in read_faults(text, scenario_directory())]
    do = {key: given[key] for key in _DO if given[key] is not None} | (written or {})
    when: dict[str, Any] = {key: given[key] for key in _WHEN if given[key] is not None}
    with contextlib.suppress(KeyError, ValueError):
        if "." in when["share"]:  # a fraction; a whole number is refused, as it could be one in a hundred or all
            when["share"] = float(when["share"])
    if do:
        documents.append({"do": do})
    elif when and not faults:
        raise UsageError(f"--{next(iter(when))} says for which requests, and nothing what happens to them", hint=_MORE)
    if not documents:
        raise UsageError("no fault is given", hint=_MORE)
    if name is not None and len(documents) > 1:
        raise UsageError(f"--name {name} for {len(documents)} faults", hint="leave it out, or add them one by one")
    for document in documents:
        if when:
            document["when"] = {**(document.get("when") or {}), **when}
        if for_ is not None:
            document["ttl"] = for_
        if name is not None:
            document["name"] = name
    names = control.add(documents)
    for added in names:
        click.echo(f"stack {run.run_id}: {_shown(added)} is effective")
    _print_scenario_notice(run)
    if not run.released:
        click.echo("  until the arm ends: the next one begins with the scenario's own faults", err=True)
    arguments = shlex.join([*names, *(["--run-id", run.run_id] if run_id else [])])
    click.echo(f"  `devkit fault list` shows what it does, `devkit fault remove {arguments}` ends it", err=True)


def _parsed_do(text: str | None) -> dict[str, Any] | None:
    from located_config.yaml_file import UnfitError, parse_yaml

    if text is None:
        return None
    try:
        written = parse_yaml(text)
    except UnfitError as error:
        raise UsageError(f"--do {text}: {error}", hint=_DO_EXAMPLE) from error
    if not isinstance(written, dict):
        raise UsageError(f"--do {text}: a mapping is wanted", hint=_DO_EXAMPLE)
    return {str(key): value for key, value in written.items()}


def _add_on_a_part(run: "RunState", item: "TimelineItem", control: "FaultControl", run_id: str | None) -> None:
    from devkit.faults.manual_faults import ManualFaults

    added = ManualFaults(run).add(item, taken=frozenset(fault.name for fault in control.listed()))
    if added.text:
        click.echo(f"stack {run.run_id}: {_shown(added.name)} is done: {added.text}")
        _print_scenario_notice(run)
        return
    click.echo(f"stack {run.run_id}: {_shown(added.name)} {'waits' if added.waits else 'is effective'}")
    _print_scenario_notice(run)
    arguments = shlex.join([added.name, *(["--run-id", run.run_id] if run_id else [])])
    click.echo(f"  `devkit fault remove {arguments}` ends it", err=True)


def _print_scenario_notice(run: "RunState") -> None:
    """Tells an operator what the fault does to a running scenario."""
    if not run.released:
        click.echo(
            "  a command is running on that stack: if it is a scenario, its verdict is now inconclusive", err=True
        )


_DO_EXAMPLE = "--do '{pause: {part: kafka}}'; `devkit faults` lists all"
_MORE = "`devkit fault add --status 504 --share 5%`; `devkit fault add --help` has more"


@fault.command("list", short_help="List the faults and what each has matched.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all that the mock counted.")
@run_id_option
def list_(run_id: str | None, *, as_json: bool) -> None:
    """List the faults with their status, and how many requests each has matched."""
    from devkit.debug.mock_faults import FaultControl
    from devkit.faults.manual_faults import ManualFaults
    from devkit.observe.figures import answers_text

    run = running_stack(run_id)
    by_hand = ManualFaults(run)
    on_parts, refused = [page.entry for page in by_hand.listed()], by_hand.refused()
    mock_faults = FaultControl(address_of(run, MOCK_API)).listed()
    if as_json:
        click.echo(
            json.dumps([fault.model_dump(mode="json") for fault in (*on_parts, *refused, *mock_faults)], indent=2)
        )
        return
    count = len(mock_faults) + len(on_parts) + len(refused)
    click.echo(f"stack {run.run_id}: {counted(count, 'fault')}")
    for fault_entry in on_parts:
        click.echo(f"  {_shown(fault_entry.name)}: {_since(fault_entry)}")
        click.echo(f"      do {fault_entry.asked}")
    for refusal in refused:
        click.echo(f"  {_shown(refusal.name)}: {refusal.text}")
        click.echo(f"      do {refusal.asked}")
    for mock_fault in mock_faults:
        counts = mock_fault.counts
        last = "" if mock_fault.last_s_ago is None else f", the last {mock_fault.last_s_ago:.0f}s ago"
        met = (
            f"matched {counted(counts.requests, 'request')} ({answers_text(counts.by_status)}){last}"
            if counts.requests
            else "matched no request yet"
        )
        click.echo(f"  {_shown(mock_fault.name)}: {_status(mock_fault)}{met}")
        click.echo(f"      when {_bare(mock_fault.when) or 'any request'}, do {_bare(mock_fault.do)}")


def _since(entry: "Entry") -> str:
    if entry.waits:
        return "waits for its time"
    acts_s = (datetime.now(UTC) - entry.began).total_seconds()
    remaining = "" if entry.lasts_s is None else f", {max(0.0, entry.lasts_s - acts_s):.0f}s remaining"
    by = "" if entry.holder else ", of the scenario's timeline"
    return f"for {acts_s:.0f}s{remaining}{by}"


def _status(fault: "MockFault") -> str:
    """The phase or what remains of the fault, followed by a comma."""
    if fault.phase != "effective":
        return f"{fault.phase}, "
    remaining = [
        *([] if fault.ttl_remaining_s is None else [f"{fault.ttl_remaining_s:.0f}s remaining, "]),
        *([] if fault.times_remaining is None else [f"{counted(fault.times_remaining, 'request')} remaining, "]),
    ]
    return "".join(remaining)


@fault.command()
@click.argument("names", nargs=-1)
@click.option(
    "--all", "everything", is_flag=True, help="Remove all faults that are effective, those of a running scenario too."
)
@run_id_option
def remove(names: tuple[str, ...], run_id: str | None, *, everything: bool) -> None:
    """Remove faults by name."""
    from devkit.debug.mock_faults import FaultControl
    from devkit.faults.manual_faults import ManualFaults

    if everything == bool(names):
        raise UsageError("names and --all" if names else "neither a name nor --all", hint="give one of them")
    run = running_stack(run_id)
    on_parts, control = ManualFaults(run), FaultControl(address_of(run, MOCK_API))
    if everything:
        by_hand = tuple(page.entry.name for page in on_parts.listed() if page.entry.holder)
        for name in by_hand:  # first, as the mock may be what stands still
            on_parts.remove(name)
        refused = tuple(fault.name for fault in on_parts.refused())
        for name in refused:
            on_parts.remove(name)
        names = (*by_hand, *refused, *control.remove_all())
    else:
        for name in names:
            if not on_parts.remove(name):
                control.remove(name)
    for name in names:
        click.echo(f"stack {run.run_id}: {_shown(name)} is removed")
    if not names:
        click.echo(f"stack {run.run_id}: there was no fault")


def _shown(name: str) -> str:
    return name if name.isprintable() and len(name) <= _PLAIN_CHARACTERS else repr(name)


def _bare(mapping: dict[str, Any]) -> str:
    """As YAML on one line, without the braces."""
    return flow(mapping)[1:-1]
