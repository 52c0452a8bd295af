"""What `./justw bench --help` says: the benches by name, each with options that stand alone."""

import subprocess
import sys

import click
import pytest

from benchmarks.engine.__main__ import main


@pytest.mark.parametrize("name", sorted(main.commands))
def test_each_option_says_what_it_does(name: str) -> None:
    command = main.commands[name]
    assert command.help
    assert not command.get_short_help_str().endswith("..."), "no list of commands cuts it off"
    texts = {one.name: one.help or "" for one in command.params if isinstance(one, click.Option)}
    assert texts
    for option, text in texts.items():
        assert text.endswith("."), option
        assert len(text.split()) >= 4, option
        assert not text.startswith(("Of ", "With ", "At ")), option


def test_help_is_that_of_the_benches_and_not_of_pytest() -> None:
    asked = [sys.executable, "-m", "benchmarks", "--help"]
    text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert all(name in text for name in main.commands)
    assert "pytest benchmarks of the kit" in " ".join(text.split())
