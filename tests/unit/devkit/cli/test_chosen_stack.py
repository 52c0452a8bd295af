"""Which stack a scenario may be played on, and how one is handed over."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.cli import chosen_stack
from devkit.cli.chosen_stack import addresses_of
from devkit.cli.stack_report import keep_stack
from devkit.errors import UsageError
from devkit.guardian import Guardian
from devkit.guardian.run_state import ProgramPlace, RunState
from devkit.stack.stack import Stack

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


@pytest.mark.parametrize(
    ("spark_ui", "line"), [(None, ""), ("http://127.0.0.1:2", "  Spark UI       http://127.0.0.1:2\n")]
)
def test_the_stack_is_handed_over_with_its_addresses_and_the_way_to_end_it(
    capsys: pytest.CaptureFixture[str], spark_ui: str | None, line: str
) -> None:
    released: list[Mapping[str, str]] = []
    guardian = cast(Guardian, SimpleNamespace(run_id="cafe0001", release=released.append))
    stack = cast(Stack, SimpleNamespace(addresses=lambda: {"kafka": "127.0.0.1:1"}))
    keep_stack(stack, guardian, Path("/runs/x"), spark_ui=spark_ui)
    spark = {"Spark UI": spark_ui} if spark_ui else {}
    assert released == [{"kafka": "127.0.0.1:1"} | spark | {"logs": "/runs/x"}]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "\nstack cafe0001 stays up:\n"
        "  kafka          127.0.0.1:1\n"
        f"{line}"
        "  logs           /runs/x\n"
        "  `devkit status` shows it, `devkit logs -f` follows it, `devkit down` ends it\n"
    )


def test_logs_are_found_from_any_directory(here: Path) -> None:
    released: list[Mapping[str, str]] = []
    guardian = cast(Guardian, SimpleNamespace(run_id="cafe0001", release=released.append))
    keep_stack(cast(Stack, SimpleNamespace(addresses=dict)), guardian, Path("runs/x"))
    assert released == [{"logs": str(here / "runs/x")}]
