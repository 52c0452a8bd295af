"""What `./justw bench --help` says: the benches by name, each with options that stand alone."""

import runpy
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


def test_help_is_that_of_the_benches_and_not_of_pytest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("benchmarks", run_name="__main__")
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in main.commands)
    assert "pytest benchmarks of the kit" in " ".join(text.split())
