"""A package of somebody else's adds a fault: one file that calls `register`.

The models of rules, of scenarios and the application are made first, so that nothing depends on who is imported when.
"""

import asyncio
import contextlib
import importlib
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.scenario.model import Scenario
from mockapi.clock import Clock
from mockapi.control.access import Access
from mockapi.control.refusal import problems
from mockapi.faults.latency import FAULT as LATENCY
from mockapi.faults.registry import register
from mockapi.faults_command import main
from mockapi.rules.model import Rule, Rules
from mockapi.rules.proof import Met
from mockapi.server.app import create_app
from mockapi.world import World, Worlds
from tests.unit.extension_state import restored_registries

FAULT = """
from dataclasses import replace

from pydantic import Field

from mockapi.faults.fault import Fault
from mockapi.faults.registry import register
from mockapi.faults.slots import PACE
from mockapi.plan import StatusAnswer
from mockapi.values.strict import Strict


class Teapot(Strict):
    words: str = Field(min_length=1)


register(
    Fault(
        name="teapot",
        group="proxy",
        summary="answers as a teapot",
        takes=Teapot,
        example={"words": "short and stout"},
        apply=lambda plan, teapot, draw: replace(plan, status=StatusAnswer(418, teapot.words)),
        inaction=lambda teapot, met: "" if met.by_status.get("418") else "nobody saw a teapot",
        claims=(PACE,),
    )
)
"""
RULES = TypeAdapter[Any](Rules)
CLOCK = Clock()
WORLDS = Worlds(World(1, None, (), CLOCK), CLOCK)
APP = create_app(WORLDS, Access(()))
SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "path": "/x",
    "raw_path": b"/x",
    "query_string": b"",
    "headers": [(b"host", b"en.wikipedia.org")],
    "client": ("192.0.2.1", 1),
    "server": ("x", 80),
}


@pytest.fixture(autouse=True)
def _teapot(tmp_path: Path) -> Iterator[None]:
    package = tmp_path / "somebodys"
    package.mkdir()
    (package / "teapot.py").write_text(FAULT)
    with restored_registries(tmp_path):
        importlib.import_module("somebodys.teapot")
        yield


def a_rule() -> Rule:
    return Rule.model_validate({"name": "tea", "do": {"teapot": {"words": "hot"}}})


def answer() -> tuple[int, bytes]:
    """Status and body of the application's answer."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(APP(SCOPE, receive, send))  # type: ignore[arg-type]
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def printed(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(arguments) == 0
    return out.getvalue()


def refusal(do: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        RULES.validate_python([{"name": "x", "do": do}])
    return str(problems(refused.value, Rules)[0])


def test_it_acts_says_itself_what_shows_that_it_did_and_is_a_key_of_every_schema() -> None:
    rule = a_rule()
    WORLDS.current.rulebook.put(rule)
    assert answer() == (418, b"hot")
    inactions = [rule.do.inactions(Met(1, 1, by_status, 0)) for by_status in ({"200": 1}, {"418": 1})]
    assert inactions == [("nobody saw a teapot",), ()]
    for schema in (RULES.json_schema(), Scenario.model_json_schema()):
        assert "Teapot" in schema["$defs"]
        assert "teapot" in schema["$defs"]["Do"]["properties"]


def test_it_is_listed() -> None:
    assert "\n  teapot  answers as a teapot\n    takes  words\n    {name: teapot, do: {teapot: {" in printed()
    assert "  words  text (required)\n" in printed("teapot")


def test_it_is_checked_and_written_as_the_others_are() -> None:
    written = RULES.dump_json((a_rule(),), exclude_unset=True)
    assert written == b'[{"name":"tea","do":{"teapot":{"words":"hot"}}}]'
    assert refusal({"teapto": {"words": "x"}}).startswith("[0].do.teapto: unknown key; did you mean 'teapot'?")
    assert refusal({"teapot": {"word": "x"}}) == "[0].do.teapot.word: unknown key; did you mean 'words'?"
    clash = refusal({"teapot": {"words": "x"}, "bandwidth": "1KiB"})
    assert clash.startswith("[0].do: bandwidth and teapot in one rule")
    assert "a body has one pace: keep one of them" in clash


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, "there is a fault of the mock 'latency' already, one of the project's own"),
        ({"name": "mine", "group": "wikis"}, r"there is no group 'wikis' of faults; did you mean 'wiki'\?"),
    ],
)
def test_a_name_is_given_once_and_a_group_is_one_that_there_is(changed: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        register(replace(LATENCY, **changed))
