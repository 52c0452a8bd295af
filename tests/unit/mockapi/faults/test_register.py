"""A package of somebody else's adds a fault: one file that calls `register`.

In a process of its own, since a fault that is registered stays. There the models of rules, of scenarios and the
application are made first, so that nothing depends on who is imported when.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mockapi.faults.latency import FAULT as LATENCY
from mockapi.faults.registry import register

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
PROGRAM = """
import asyncio, contextlib, io, json

from pydantic import TypeAdapter, ValidationError

from devkit.scenario.model import Scenario
from mockapi.server.app import create_app
from mockapi.clock import Clock
from mockapi.control.access import Access
from mockapi.faults_command import main
from mockapi.control.refusal import problems
from mockapi.rules.model import Rule, Rules
from mockapi.rules.proof import Met
from mockapi.world import World, Worlds

rules = TypeAdapter(Rules)
clock = Clock()
worlds = Worlds(World(1, None, (), clock), clock)
app = create_app(worlds, Access(()))

import somebodys.teapot

rule = Rule.model_validate({"name": "tea", "do": {"teapot": {"words": "hot"}}})
worlds.current.rulebook.put(rule)
sent = []

async def receive():
    return {"type": "http.request", "body": b"", "more_body": False}

async def send(message):
    sent.append(message)

scope = {
    "type": "http", "http_version": "1.1", "method": "GET", "path": "/x", "raw_path": b"/x", "query_string": b"",
    "headers": [(b"host", b"en.wikipedia.org")], "client": ("192.0.2.1", 1), "scheme": "http", "server": ("x", 80),
}
asyncio.run(app(scope, receive, send))

def said(do):
    try:
        rules.validate_python([{"name": "x", "do": do}])
    except ValidationError as error:
        return str(problems(error, Rules)[0])

def printed(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(arguments) == 0
    return out.getvalue()

print(json.dumps({
    "status": sent[0]["status"],
    "body": b"".join(message.get("body", b"") for message in sent).decode(),
    "inactions": [rule.do.inactions(Met(1, 1, by_status, 0)) for by_status in ({"200": 1}, {"418": 1})],
    "schemas": [
        "Teapot" in schema["$defs"] and "teapot" in schema["$defs"]["Do"]["properties"]
        for schema in (rules.json_schema(), Scenario.model_json_schema())
    ],
    "listed": printed(),
    "shown": printed("teapot"),
    "over the API": rules.dump_json((rule,), exclude_unset=True).decode(),
    "misspelt": said({"teapto": {"words": "x"}}),
    "wrong": said({"teapot": {"word": "x"}}),
    "clash": said({"teapot": {"words": "x"}, "bandwidth": "1KiB"}),
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    package = tmp_path_factory.mktemp("packages") / "somebodys"
    package.mkdir()
    (package / "teapot.py").write_text(FAULT)
    paths = [str(package.parent), str(Path(__file__).parents[4])]
    program = f"import sys; sys.path[:0] = {paths!r}\n{PROGRAM}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_it_acts_says_itself_what_shows_that_it_did_and_is_a_key_of_every_schema(found: Any) -> None:
    assert (found["status"], found["body"]) == (418, "hot")
    assert found["inactions"] == [["nobody saw a teapot"], []]
    assert found["schemas"] == [True, True]


def test_it_is_listed(found: Any) -> None:
    assert "\n  teapot  answers as a teapot\n    takes  words\n    {name: teapot, do: {teapot: {" in found["listed"]
    assert "  words  text (required)\n" in found["shown"]


def test_it_is_checked_and_written_as_the_others_are(found: Any) -> None:
    assert found["over the API"] == '[{"name":"tea","do":{"teapot":{"words":"hot"}}}]'
    assert found["misspelt"].startswith("[0].do.teapto: unknown key; did you mean 'teapot'?")
    assert found["wrong"] == "[0].do.teapot.word: unknown key; did you mean 'words'?"
    assert found["clash"].startswith("[0].do: bandwidth and teapot in one rule")
    assert "a body has one pace: keep one of them" in found["clash"]


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
