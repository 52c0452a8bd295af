"""`run: apply`: what the stack gives it, what it is started with, and where it shows how far it has come."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError

from devkit.errors import StackError, UsageError
from devkit.observe.applied_offsets import FollowerOffsets, OffsetInStore, OffsetOfGroup
from devkit.observe.kafka.deferrals import NoDeferrals
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.programs.apply_program import ApplyProgram, ConfiguredApply
from devkit.programs.places import NOWHERE, StorePlace
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_state import ProgramState
from devkit.programs.registry import find_program
from devkit.stack.parts.triple_store import StoreLogin, TripleStore
from devkit.stack.stack import Stack
from pipeline.config.apply_config import ApplyConfig
from pipeline.config.config_file import load_model
from tests.unit.devkit.programs.context import program_context

PLACES = replace(NOWHERE, bootstrap="kafka:1", triple_store=StorePlace("http://store:1/query", "http://store:1/update"))
STORE = TripleStore.at("proxy:1", "store:1")


def configured(**settings: Any) -> ConfiguredApply:
    return ApplyProgram().configure(PLACES, settings)


def context(directory: Path, store: TripleStore | None = STORE) -> ProgramContext:
    made = program_context(directory)
    kafka = SimpleNamespace(direct="kafka:2")
    stack = SimpleNamespace(kafka=kafka, object_store=made.stack.object_store, triple_store=store)
    return replace(made, stack=cast(Stack, stack))


def test_it_is_found_by_its_word_alone() -> None:
    assert find_program("apply") == ApplyProgram()
    with pytest.raises(UsageError, match="run: apply takes no 'fast'"):
        find_program("apply fast")


def test_the_stack_gives_its_addresses_and_the_scenario_the_rest() -> None:
    config = configured(apply={"count": "probe"}, source={"topic": "mine"}).apply_config
    assert (config.source.bootstrap_servers, config.source.topic) == ("kafka:1", "mine")
    assert (config.apply.endpoint, config.apply.query_endpoint) == ("http://store:1/update", "http://store:1/query")
    assert (config.apply.count, config.metrics.port) == ("probe", 0)
    assert configured().topics.sources == ("rdf-streaming-updater.mutation",)


def test_the_login_of_the_store_is_in_a_file(tmp_path: Path) -> None:
    login = StoreLogin("me", "hush", tmp_path / "password")
    places = replace(PLACES, triple_store=StorePlace("http://store:1/query", "http://store:1/update", login))
    config = ApplyProgram().configure(places, {}).apply_config
    assert (config.apply.username, config.apply.password_file) == ("me", str(tmp_path / "password"))
    assert "hush" not in config.model_dump_json()


def test_a_setting_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError, match="batch_size"):
        configured(apply={"batch_size": 1})


def test_a_stack_without_a_store_is_refused(tmp_path: Path) -> None:
    for refused in (
        lambda: ApplyProgram().configure(replace(PLACES, triple_store=None), {}),
        lambda: configured().follows(context(tmp_path, store=None)),
    ):
        with pytest.raises(StackError, match="no triple store"):
            refused()


def test_only_its_first_start_begins_with_the_first_mutation(tmp_path: Path) -> None:
    program = configured(apply={"deletes": "ignore"})
    launch = program.launch(context(tmp_path))
    assert launch.argv[1:4] == ("-m", "pipeline", "apply")
    assert launch.argv[-1] == "--allow-unsafe"
    assert (launch.first.arguments, launch.again.arguments) == (("--new", "earliest"), ())
    file = Path(launch.argv[launch.argv.index("--config") + 1])
    assert load_model(file, ApplyConfig) == program.apply_config
    assert json.loads(file.read_text()) == program.effective()


@pytest.mark.parametrize(
    ("settings", "follower"),
    [
        ({}, OffsetInStore(STORE, "rdf-streaming-updater.mutation")),
        ({"graph": "http://g"}, OffsetInStore(STORE, "rdf-streaming-updater.mutation", "http://g")),
        (
            {"offset": "kafka"},
            OffsetOfGroup(GroupOffsets("kafka:2", "apply.nowhere.here"), "rdf-streaming-updater.mutation"),
        ),
    ],
)
def test_where_it_keeps_its_offset(settings: dict[str, Any], follower: FollowerOffsets, tmp_path: Path) -> None:
    assert configured(apply=settings).follows(context(tmp_path)) == follower


def test_its_metrics_are_known_before_it_runs() -> None:
    served = configured(metrics={"rename": {"enrichment_apply_mutations": "edits"}}).metrics
    assert served["edits_total"] == {"operation"}
    assert "enrichment_apply_mutations_total" not in served


def test_an_end_with_2_is_a_refusal(tmp_path: Path) -> None:
    view = configured().view(ProgramState(), context(tmp_path))
    assert [view.refused(code) for code in (0, 1, 2, -9)] == [False, False, True, False]
    assert view.not_observable(NoDeferrals()) == {"offsets", "checkpoint", "batches", "deferrals", "sources"}
