"""Edits of the mock's entities come into the triple store of a kept stack.

Set-up: a stack with the updater, by its name. Steps: edits of several entities at once, as each takes its time through
two jobs. Checked: a label that `devkit edit` sets is in the store; after a restart of the event bus the next one is the
step from it, and replaces it; a merge moves a sitelink; a deleted entity is gone, and is there again when it is
undeleted; one whose deletion suppresses is gone; `devkit lag` says that nothing is left to resolve and to apply;
nothing runs after `devkit down`. Of a second stack the first job is killed while `devkit up` still starts the last
program: the command fails, names the job and its log, and leaves nothing.
"""

import contextlib
import json
import re
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psutil
import pytest

from devkit.cli.chosen_stack import SPARQL_QUERY, SPARQL_UPDATE, address_of
from devkit.faults.attached_part import attached_parts
from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.guardian.run_state import RunState, known_runs
from devkit.stack.parts.triple_store import TripleStore
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun, devkit

ROOMS = ("devkit/event_bus", "devkit/programs", "pipeline/apply", "pipeline/updater")
Cli = Callable[..., CliRun]
APPLIED = timedelta(minutes=4)
LABELS = 'SELECT ?value { ENTITY <http://www.w3.org/2000/01/rdf-schema#label> ?value FILTER(LANG(?value) = "en") }'
LINKS = "SELECT ?value { ?value <http://schema.org/about> ENTITY; a <http://schema.org/Article> }"


@pytest.fixture
def run(devkit_cli: Cli) -> Iterator[RunState]:
    up = devkit_cli("up", "--job", "rdf-updater")
    assert up.wait(240) == 0, up.output()
    match = re.search(r"stack (\w+) stays up", up.output())
    assert match
    (state,) = [state for state in known_runs() if state.run_id == match[1]]
    yield state
    devkit("down", "--run-id", state.run_id)
    assert marked(RUN_VARIABLE, state.run_id) == []


def edit(run: RunState, *arguments: str) -> list[tuple[str, str]]:
    """Stream and entity of each event."""
    finished = devkit("edit", *arguments, "--json", "--run-id", run.run_id)
    assert finished.returncode == 0, finished.stderr
    made = [json.loads(line) for line in finished.stdout.splitlines()]
    return [(one["stream"], one["entity"]) for one in made]


def await_values(run: RunState, query: str, entity: str, expected: Callable[[list[str]], bool]) -> None:
    """Until what the query finds of the entity is as expected."""
    url, update = address_of(run, SPARQL_QUERY), address_of(run, SPARQL_UPDATE)
    store = TripleStore(url, update, url, update)
    found: list[str] = []

    def is_applied() -> bool:
        answer: Any = store.select(query.replace("ENTITY", f"<http://www.wikidata.org/entity/{entity}>"))
        found[:] = [row["value"]["value"] for row in answer["results"]["bindings"]]
        return expected(found)

    wait_until(is_applied, what=f"the change of {entity} to be in the store", deadline=APPLIED)


def test_edits_of_entities_come_into_the_store(run: RunState) -> None:
    def await_label(text: str) -> None:
        await_values(run, LABELS, "Q42", lambda labels: labels == [text])

    def await_link(entity: str, title: str) -> None:
        await_values(run, LINKS, entity, lambda links: f"https://en.wikipedia.org/wiki/{title}" in links)

    def await_no_link(entity: str) -> None:
        await_values(run, LINKS, entity, lambda links: not links)

    assert edit(run, "Q42", "--label", "en=Douglas Adams") == [("revision-create", "Q42")]
    assert edit(run, "Q6", "--sitelink", "enwiki=Bach") == [("revision-create", "Q6")]
    assert edit(run, "Q43", "--sitelink", "enwiki=Adams") == [("revision-create", "Q43")]
    assert edit(run, "Q43", "--merge-into", "Q5") == [("revision-create", "Q5"), ("revision-create", "Q43")]
    await_label("Douglas Adams")
    await_link("Q5", "Adams")
    await_no_link("Q43")
    await_link("Q6", "Bach")

    attached_parts(run)["event-bus"].pull("restart")
    assert edit(run, "Q42", "--label", "en=Douglas Noel Adams") == [("revision-create", "Q42")]
    assert edit(run, "Q6", "--delete") == [("page-delete", "Q6")]
    assert edit(run, "Q5", "--delete", "--suppress") == [("page-suppress", "Q5")]
    await_label("Douglas Noel Adams")
    await_no_link("Q6")
    await_no_link("Q5")

    assert edit(run, "Q6", "--undelete") == [("page-undelete", "Q6")]
    await_link("Q6", "Bach")

    def is_nothing_left() -> bool:
        lag = json.loads(devkit("lag", "--json", "--run-id", run.run_id).stdout)
        return (lag["lag"], lag["apply"]["lag"]) == (0, 0)

    wait_until(is_nothing_left, what="the lag to be 0", deadline=APPLIED)


def test_a_stack_does_not_come_up_with_a_program_that_has_ended(devkit_cli: Cli) -> None:
    before = {state.run_id for state in known_runs()}
    up = devkit_cli("up", "--job", "rdf-updater")

    def state_with(program: str) -> RunState | None:
        listed = [state for state in known_runs() if state.run_id not in before and str(up.out) in str(state.programs)]
        return next((state for state in listed if any(one.name == program for one in state.programs)), None)

    def has_decide_ended() -> bool:
        state = state_with("rdf-decide")
        return state is None or any(one.exit_code == -signal.SIGKILL for one in state.programs)

    state: RunState = up.await_condition(lambda: state_with("apply"), "apply to be started", 240)
    try:
        pids = {program.name: program.pid for program in state.programs}
        psutil.Process(pids["apply"]).suspend()  # so that the end of rdf-decide is known before `up` has finished
        psutil.Process(pids["rdf-decide"]).kill()
        wait_until(has_decide_ended, what="the end of rdf-decide to be known", deadline=APPLIED)
        with contextlib.suppress(psutil.NoSuchProcess):  # `up` may have ended it by now
            psutil.Process(pids["apply"]).resume()

        assert up.wait(120) == 3, up.output()
        assert "rdf-decide ended by signal 9" in up.output()
        assert re.search(r"hint: read its log, .*rdf-decide\.out", up.output()), up.output()
        assert "stays up" not in up.output()
        assert marked(RUN_VARIABLE, state.run_id) == []
    finally:
        devkit("down", "--run-id", state.run_id)  # a test that failed must not leave it
