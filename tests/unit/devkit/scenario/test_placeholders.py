"""Places in a program's command line and variables: known ones get their values, all else stays."""

import pytest

from devkit.scenario.placeholders import OF_CONFIG, filled_where_known, misspelt_places

VALUES = {"bootstrap": "127.0.0.1:9092", "arm": "fixed"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("--brokers={bootstrap}", "--brokers=127.0.0.1:9092"),
        ("mine-{arm}-{arm}", "mine-fixed-fixed"),
        ("echo ${arm}", "echo ${arm}"),
        ('{"arm": 1}', '{"arm": 1}'),
        ("{sparql_update}", "{sparql_update}"),
        ("{other}", "{other}"),
    ],
    ids=["a value", "twice", "a shell's variable", "JSON", "without a triple store", "a word of the program's own"],
)
def test_known_places_are_filled_in(text: str, filled: str) -> None:
    assert filled_where_known(text, VALUES.__getitem__) == filled


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{bootstap}", ["there is no place {bootstap} to fill in; did you mean 'bootstrap'?"]),
        ("{config}", ["there is no place {config} to fill in; there are: " + ", ".join(OF_CONFIG)]),
        ("{mock} {other} ${moc}", []),
    ],
    ids=["a typo", "a place of an operator's command", "known, and others"],
)
def test_a_misspelt_place_is_told(text: str, messages: list[str]) -> None:
    assert list(misspelt_places(text, OF_CONFIG)) == messages
