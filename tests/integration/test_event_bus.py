"""Edits of the mock's pages become events, and come out enriched.

Set-up: a kept stack with the pipeline. Checked: an edit by `devkit edit` and one by mwclient are in the source topic
and in the output; edits made while the event bus is dead are published once, in order, when it is started again.
"""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import mwclient
import pytest

from devkit.cli.chosen_stack import address_of
from devkit.debug.tail import TopicTail
from devkit.faults.attached_part import attached_parts
from devkit.guardian.run_state import RunState, known_runs
from devkit.waiting import wait_until
from pipeline.schemas import page_change_validator
from tests.integration.cli_run import CliRun, devkit

ROOMS = ("devkit/event_bus",)
Cli = Callable[..., CliRun]
SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
CLIENTS_ID = "8c1f5e0c-made-by-mwclient"
ENRICHED = timedelta(seconds=60)


@pytest.fixture
def run(devkit_cli: Cli) -> Iterator[RunState]:
    up = devkit_cli("up")
    assert up.wait(180) == 0, up.output()
    match = re.search(r"stack (\w+) stays up", up.output())
    assert match
    (state,) = [state for state in known_runs() if state.run_id == match[1]]
    yield state
    devkit("down", "--run-id", state.run_id)


def events(run: RunState, topic: str) -> list[dict[str, Any]]:
    with TopicTail(address_of(run, "kafka"), topic) as tail:
        return [json.loads(record.value or b"{}") for record in tail.last(1000)]


def edit(run: RunState, *arguments: str) -> dict[str, Any]:
    finished = devkit("edit", *arguments, "--json", "--run-id", run.run_id)
    assert finished.returncode == 0, finished.stderr
    made: dict[str, Any] = json.loads(finished.stdout)
    return made


def site_of(run: RunState) -> Any:
    host = address_of(run, "mock API").removeprefix("http://")
    site = mwclient.Site(host, scheme="http", custom_headers={"X-Request-Id": CLIENTS_ID})
    site.login("Admin", "dockerpass")
    return site


def await_enriched(run: RunState, rev_id: int) -> dict[str, Any]:
    def enriched() -> dict[str, Any] | None:
        return next((event for event in events(run, OUTPUT) if event["revision"]["rev_id"] == rev_id), None)

    return wait_until(enriched, what=f"revision {rev_id} to be enriched", deadline=ENRICHED)


def test_edits_come_out_enriched_and_a_dead_bus_loses_and_repeats_none(run: RunState) -> None:
    _edits_of_any_client_come_out_enriched(run)
    _what_is_edited_while_the_bus_is_dead_is_published_once(run)
    _a_suppressed_deletion_names_nobody(run)


def _edits_of_any_client_come_out_enriched(run: RunState) -> None:
    ours = edit(run, "Main Page", "--text", "Of the ''devkit''.")
    site = site_of(run)
    theirs = site.pages["Made by mwclient"].save("Of '''mwclient'''.", summary="made")
    site.connection.close()
    html = await_enriched(run, ours["rev_id"])["revision"]["content_slots"]["main"]["content_body"]
    assert "<i" in html
    html = await_enriched(run, theirs["newrevid"])["revision"]["content_slots"]["main"]["content_body"]
    assert "mwclient</b>" in html
    source = events(run, SOURCE)
    for event in source:
        page_change_validator().validate(event)
    assert source[ours["offset"]]["revision"]["rev_id"] == ours["rev_id"]
    assert (source[-1]["page_change_kind"], source[-1]["meta"]["request_id"]) == ("create", CLIENTS_ID)


def _what_is_edited_while_the_bus_is_dead_is_published_once(run: RunState) -> None:
    before = len(events(run, SOURCE))
    (state,) = [state for state in known_runs() if state.run_id == run.run_id]
    bus = attached_parts(state)["event-bus"]
    assert bus.life.pid is not None
    site = site_of(run)
    made = []
    for n in range(6):
        if n == 3:
            os.kill(bus.life.pid, signal.SIGKILL)
        made.append(site.pages[f"Page {n % 2}"].save(f"Text {n}.")["newrevid"])
    site.connection.close()
    bus.pull("restart")
    last = edit(run, "Page 0", "--move", "Page 2")
    published = events(run, SOURCE)[before:]
    redirect = published.pop() if published[-1]["page_change_kind"] == "create" else None
    assert redirect is None or redirect["page"]["is_redirect"]  # it comes right after the move
    assert [event["revision"]["rev_id"] for event in published] == [*made, last["rev_id"]]
    assert published[-1]["page_change_kind"] == "move"


def _a_suppressed_deletion_names_nobody(run: RunState) -> None:
    deleted = edit(run, "Page 1", "--delete", "--suppress")
    (event,) = [event for event in events(run, SOURCE) if event["page_change_kind"] == "delete"]
    page_change_validator().validate(event)
    assert (event["revision"]["rev_id"], event["comment"]) == (deleted["rev_id"], "devkit edit")
    assert "performer" not in event
    assert {"editor", "comment", "content_slots"} & event["revision"].keys() == set()
