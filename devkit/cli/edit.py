"""`devkit edit`: changes a page of the mock on a stack that is up, and shows the event that comes of it."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.chosen_stack import EVENT_BUS, KAFKA, MOCK_API, SPARQL_QUERY, address_of, run_id_option, running_stack
from devkit.cli.options import size_of
from devkit.cli.stack_report import naming_faults
from devkit.errors import UsageError
from devkit.guardian.run_state import LOGS, RunState

if TYPE_CHECKING:
    from devkit.debug.entity_edit import EntityEdit, PublishedChange
    from devkit.debug.page_edit import PageEdit, PublishedEdit


_ENTITY_JOB = "rdf-resolve"
_ENTITY_STACK = "devkit up --job rdf-updater"


@click.command(short_help="Edit a page or an entity of a stack that is up, and print its event.")
@click.argument("page")
@click.option("--text", metavar="TEXT", help="New source of the page; `-` reads it from standard input.")
@click.option(
    "--bytes",
    "size",
    metavar="SIZE",
    help="Size of the revision's HTML, for example 20MiB. It is a fault of the mock, which `devkit fault list` shows.",
)
@click.option("--create", is_flag=True, help="Make the page if there is none.")
@click.option("--move", "move_to", metavar="TITLE", help="Move the page to this title; a redirect is left.")
@click.option("--delete", is_flag=True, help="Delete the page.")
@click.option("--undelete", is_flag=True, help="Restore the page of this title that was deleted last.")
@click.option("--label", metavar="LANGUAGE=TEXT", help="Label of the entity; an empty text removes it.")
@click.option("--sitelink", metavar="WIKI=TITLE", help="Sitelink of the item; an empty title removes it.")
@click.option("--redirect-to", metavar="ID", help="Let the entity redirect to this one.")
@click.option("--merge-into", metavar="ID", help="Move the item's sitelinks to this one, and let it redirect there.")
@click.option("--hide", is_flag=True, help="Hide editor and comment of the current revision.")
@click.option("--suppress", is_flag=True, help="Hide from administrators too; with --delete all revisions.")
@click.option("--domain", metavar="DOMAIN", help="Wiki, by its domain. Default: the mock's only wiki.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@run_id_option
def edit(
    page: str,
    text: str | None,
    size: str | None,
    move_to: str | None,
    label: str | None,
    sitelink: str | None,
    redirect_to: str | None,
    merge_into: str | None,
    domain: str | None,
    run_id: str | None,
    *,
    create: bool,
    delete: bool,
    undelete: bool,
    hide: bool,
    suppress: bool,
    as_json: bool,
) -> None:
    """Edit PAGE, a title, of a stack that `devkit up` keeps. Without an option the page gets one more line.

    The edit goes to the mock's Action API, as any client's does. The event bus makes an event of it, whose position
    this prints. On a stack with the updater PAGE is the id of an entity.

    \b
    devkit edit "Main Page"
    devkit edit "Main Page" --bytes 20MiB
    devkit edit "New page" --create --text "A ''new'' page."
    devkit edit "New page" --move "Newer page"
    devkit edit Q42 --label en="Douglas Adams"
    """  # noqa: D301 — click's mark for lines that stay as they are
    from devkit.debug.entity_edit import EntityEdit, make_entity_edit, parse_member
    from devkit.debug.mock_faults import FaultControl
    from devkit.debug.page_edit import PageEdit, make_edit
    from devkit.debug.pipeline_place import find_place
    from devkit.debug.tail import TopicTail
    from devkit.debug.wiki_client import WikiClient
    from devkit.event_bus.wikibase_record import CHANGE_TOPICS

    wanted = PageEdit(
        page,
        text=sys.stdin.read() if text == "-" else text,
        size_bytes=None if size is None else size_of("--bytes", size),
        create=create,
        move_to=move_to,
        delete=delete,
        undelete=undelete,
        hide=hide,
        suppress=suppress,
    )
    wanted.check()
    entity_edit = EntityEdit(
        page,
        parse_member("--label", label),
        parse_member("--sitelink", sitelink),
        redirect_to,
        merge_into,
        delete=delete,
        undelete=undelete,
        suppress=suppress,
    )
    run = running_stack(run_id)
    if EVENT_BUS not in run.addresses:
        raise UsageError(
            f"stack {run.run_id} has no event bus, which makes events of edits",
            hint="`devkit up` starts one with the pipeline",
        )
    config = find_place(Path(run.addresses[LOGS]) if LOGS in run.addresses else None).config
    topic, mock = config.source.topic, address_of(run, MOCK_API)
    if _has_entities(config.job, entity_edit, wanted):
        entity_edit.check()
        with (
            naming_faults(run, "the entity cannot be edited", "kafka", "mock-api"),
            TopicTail(address_of(run, KAFKA), *CHANGE_TOPICS) as tail,
        ):
            changes = make_entity_edit(entity_edit, WikiClient(mock, domain), tail, lambda: _why_no_event(run))
        _print_changes(changes, run, as_json=as_json)
        return
    with naming_faults(run, "the page cannot be edited", "kafka", "mock-api"):
        client, faults = WikiClient(mock, domain), FaultControl(mock)
        with TopicTail(address_of(run, KAFKA), topic) as tail:
            published = make_edit(wanted, client, faults, tail, lambda: _why_no_event(run))
    _print(published, wanted, run_id, as_json=as_json)


def _has_entities(job: str, edit: "EntityEdit", of_page: "PageEdit") -> bool:
    """Whether the stack's job is about entities. Raises UsageError for an option that is for something else."""
    if job == _ENTITY_JOB:
        if options := of_page.only_of_pages():
            raise UsageError(
                f"{options[0]} is for pages, and {edit.entity} is to be an entity: the stack runs {job}",
                hint="--label, --sitelink, --redirect-to, --merge-into, --delete and --undelete change an entity",
            )
        return True
    if options := [name for name in edit.chosen() if name not in ("--delete", "--undelete")]:
        raise UsageError(f"{options[0]} is for entities, and the stack runs {job}", hint=f"`{_ENTITY_STACK}` has some")
    return False


def _print_changes(changes: "tuple[PublishedChange, ...]", run: RunState, *, as_json: bool) -> None:
    for made in changes:
        record = made.record
        if as_json:
            place = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
            click.echo(json.dumps({"entity": made.entity, "stream": made.stream, "rev_id": made.rev, **place}))
        else:
            click.echo(f"{made.stream} of {made.entity}: revision {made.rev}")
            click.echo(f"event {record.topic}/{record.partition}/{record.offset}")
    if not as_json and SPARQL_QUERY in run.addresses:
        click.echo(
            f"  {run.addresses[SPARQL_QUERY]} answers with it in seconds; `devkit lag` shows how far the programs are",
            err=True,
        )


def _print(published: "PublishedEdit", wanted: "PageEdit", run_id: str | None, *, as_json: bool) -> None:
    change, record = published.change, published.record
    if as_json:
        place = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        about = {"kind": change.kind, "wiki": change.page.wiki, "title": change.page.title}
        ids = {"page_id": change.page.page_id, "rev_id": published.rev_id}
        click.echo(json.dumps({**about, **ids, **place}, ensure_ascii=False))
        return
    click.echo(f"{change.kind} of {change.page.title!r} on {change.page.wiki}: revision {published.rev_id}")
    click.echo(f"event {record.topic}/{record.partition}/{record.offset}")
    if wanted.size_bytes is not None:
        click.echo(f"  its HTML has {wanted.size_bytes:,} bytes, which a fault makes: `devkit fault list`", err=True)
    which = f"{shlex.join(['--run-id', run_id])} " if run_id else ""
    click.echo(f"  `devkit tail output {which}-n 1` shows the enriched event, or `devkit tail error` why not", err=True)


def _why_no_event(run: RunState) -> str:
    from devkit.stack.parts.event_bus import bus_state

    state = bus_state(address_of(run, EVENT_BUS))
    if not state:
        return "the event bus does not answer: `devkit ps` shows whether it runs, `devkit logs` what it said"
    error = state.get("error")
    return f"the event bus waits: {error}" if error else "`devkit logs` shows what the event bus did"
