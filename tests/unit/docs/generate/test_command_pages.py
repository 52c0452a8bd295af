"""Every command, option and key says what it does, in a text that stands alone or with an example that fits."""

import argparse

import click
import jsonschema_rs
import pytest
from pydantic import BaseModel, Field
from ruamel.yaml import YAML

from devkit.cli.main import cli
from devkit.scenario.model import Scenario
from docs.generate.apply_configuration import ELSEWHERE as APPLY_ELSEWHERE
from docs.generate.click_page import Described, click_page, commands, options
from docs.generate.keys import Key, sections
from docs.generate.mockapi_command import actions
from docs.generate.scenario import ELSEWHERE
from located_config.duration import Duration
from located_config.share import Share
from located_config.size import Size
from mockapi.__main__ import command_line as mock_command_line
from mockapi.faults_command import command_line as faults_command_line
from pipeline.__main__ import main as pipeline_cli
from pipeline.config.apply_config import ApplyConfig
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import UNSAFE, UNSAFE_OF_APPLY

UNFINISHED = ("Of ", "Without ", "As ", "Its ", "It ", "The same", "How ", "Where ", "What it ", "A file;")
COMMANDS = [*commands(cli, "devkit"), *commands(pipeline_cli, "python -m pipeline")]
APPLY_KEYS = [key for section in sections(ApplyConfig, elsewhere=APPLY_ELSEWHERE) for key in section.keys]
KEYS = [
    *APPLY_KEYS,
    *(key for section in sections(PipelineConfig) for key in section.keys),
    *(key for section in sections(Scenario, elsewhere=ELSEWHERE) for key in section.keys),
]


def stands_alone(text: str | None) -> bool:
    """Whether a help text can be read without the name of its option, as far as its form shows that."""
    return text is not None and text.endswith(".") and text[0].isupper() and not text.startswith(UNFINISHED)


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_a_command_says_what_it_does(one: Described) -> None:
    assert one.command.help
    assert one.command.help.split("\n\n")[0].strip().endswith(".")


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_every_option_says_what_it_does(one: Described) -> None:
    assert [option.name for option in options(one.command) if not stands_alone(option.help)] == []


@pytest.mark.parametrize("parser", [mock_command_line(), faults_command_line()], ids=lambda parser: parser.prog)
def test_every_option_of_the_mock_says_what_it_does(parser: argparse.ArgumentParser) -> None:
    assert actions(parser)
    assert [action.dest for action in actions(parser) if not stands_alone(action.help)] == []


def test_a_page_has_the_commands_of_groups_and_no_hidden_ones() -> None:
    @click.group()
    def root() -> None: ...

    @root.group()
    def inner() -> None: ...

    @inner.command()
    @click.argument("name")
    @click.option("--rate", metavar="N|M", default=5, help="Events per second.")
    @click.option("--quiet", is_flag=True, help="No output.")
    @click.option("--secret", hidden=True)
    def replay(name: str) -> None:
        """Send NAME.

        Again.
        """

    @root.command(hidden=True)
    def concealed() -> None: ...

    text = click_page(root, "program", "What it is.")
    assert (
        "## program inner replay\n\n```text\nprogram inner replay [OPTIONS] NAME\n```\n\nSend NAME.\n\nAgain." in text
    )
    assert "| `--rate N\\|M` | Events per second. Default: `5`. |\n| `--quiet` | No output. |" in text
    assert "secret" not in text
    assert "concealed" not in text


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_a_key_is_described_by_sentences(key: Key) -> None:
    assert key.description.endswith(".")
    assert key.description[0].isupper() or key.description[0] == "`"


@pytest.mark.parametrize("key", [key for key in KEYS if key.example], ids=lambda key: key.path)
def test_an_example_is_yaml_for_its_key(key: Key) -> None:
    document = YAML(typ="safe", pure=True).load(f"{key.name}: {key.example}")
    assert list(document) == [key.name]


@pytest.mark.parametrize("model", [ApplyConfig, PipelineConfig, Scenario])
def test_examples_and_defaults_fit_the_schema(model: type[BaseModel]) -> None:
    schema = model.model_json_schema(by_alias=True)
    checked = 0
    for definition in [schema, *schema["$defs"].values()]:
        for value in definition.get("properties", {}).values():
            for example in value.get("examples", ()):
                jsonschema_rs.validate({**value, "$defs": schema["$defs"]}, example)
                checked += 1
    assert checked


def test_a_required_key_has_an_example() -> None:
    assert [key.path for key in KEYS if key.default is None and not key.example and "](#" not in key.form] == []


def test_the_keys_of_unsafe_settings_exist_and_say_it() -> None:
    described = {key.path: key.description for key in KEYS}
    unsafe_keys = {setting.key for settings in (UNSAFE, UNSAFE_OF_APPLY) for setting in settings}
    assert {key for key in unsafe_keys if "unsafe" not in described[key]} == set()


class Inner(BaseModel):
    """What stands below."""

    share: Share = Field(default=0.25, description="A share.")


class Outer(BaseModel):
    limit: Size = Field(default=2048, alias="max.bytes", description="A limit.")
    wait: Duration = Field(description="A wait.")
    one: Inner | None = None
    many: tuple[Inner, ...] = ()
    named: dict[str, Inner] = {}


def test_values_are_written_as_people_write_them() -> None:
    top, inner = sections(Outer)
    assert [(key.name, key.form, key.default, key.example) for key in top.keys] == [
        ("max.bytes", "size", "2KiB", "20MiB"),
        ("wait", "duration", None, "10s"),
        ("one", "[one](#one)", "", ""),
        ("many", "list of [one](#one)", "", ""),
        ("named", "mapping of names to [one](#one)", "", ""),
    ]
    assert inner.paths == ("one", "many[]", "named.NAME")
    assert (inner.description, inner.keys[0].path, inner.keys[0].default) == (
        "What stands below.",
        "one.share",
        "25%",
    )


def test_what_stands_elsewhere_is_not_entered() -> None:
    (top,) = sections(Outer, elsewhere={"Inner": "there", "wait": "a link"})
    assert [key.form for key in top.keys] == ["size", "a link", "there", "there", "there"]
