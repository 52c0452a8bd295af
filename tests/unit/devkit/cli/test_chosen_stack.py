"""Which stack a scenario may be played on."""

from pathlib import Path

import pytest

from devkit.cli import chosen_stack
from devkit.cli.chosen_stack import addresses_of
from devkit.errors import UsageError
from devkit.guardian.run_state import ProgramPlace, RunState

PARTS = {
    "kafka": "127.0.0.1:9093",
    "kafka direct": "127.0.0.1:9092",
    "object store": "http://127.0.0.1:9000",
    "mock API": "http://127.0.0.1:8080",
}
SPARQL = {"SPARQL query": "http://127.0.0.1:7878/query", "SPARQL update": "http://127.0.0.1:7878/update"}
RUNNING = ProgramPlace(name="pipeline-1", pid=1, log=Path("log"))
ENDED = RUNNING.model_copy(update={"exit_code": 0})


def run_state(run_id: str, addresses: dict[str, str], *programs: ProgramPlace, released: bool = True) -> RunState:
    return RunState(
        run_id=run_id,
        guardian_pid=1,
        guardian_started=0,
        directory=Path("unused"),
        released=released,
        addresses=addresses,
        programs=programs,
    )


@pytest.fixture(autouse=True)
def stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        run_state("plain", PARTS, ENDED),
        run_state("triples", PARTS | SPARQL),
        run_state("working", PARTS, RUNNING),
        run_state("foreign", PARTS, released=False),
    ]
    monkeypatch.setattr(chosen_stack, "stacks_up", lambda: runs)


@pytest.mark.parametrize(("run_id", "query"), [("plain", None), ("triples", SPARQL["SPARQL query"])])
def test_a_run_goes_past_the_proxy_and_may_clear_what_the_one_before_left(run_id: str, query: str | None) -> None:
    addresses = addresses_of(run_id)
    assert (addresses.kafka, addresses.s3_endpoint) == ("127.0.0.1:9092", "http://127.0.0.1:9000")
    assert addresses.triple_store_query == query
    assert addresses.may_recreate_topics
    assert addresses.may_clear_triple_store


@pytest.mark.parametrize(
    ("run_id", "message"),
    [
        ("working", "stack working runs a job, whose topics each arm would delete"),
        ("foreign", "there is no stack foreign"),
        ("gone", "there is no stack gone"),
    ],
)
def test_other_stacks_are_refused(run_id: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        addresses_of(run_id)
