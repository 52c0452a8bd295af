"""Words, titles and named pages, whose length may not depend on the seed."""

import unicodedata
from collections.abc import Iterator
from random import Random
from typing import Any

import orjson
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord
from devkit.traffic.vocabulary import LOCALES, languages

SEEDS = st.integers(0, 2**128)
PAGES = {"Huge": {"edits": 3, "event_bytes": 20_000}, "Plain one": {"edits": 2}}


def _named(seed: int, pages: dict[str, Any] = PAGES) -> list[SourceRecord]:
    spec = TrafficSpec.model_validate({"seed": seed, "rate": "10/s", "for": "3s", "population": 5, "pages": pages})
    titles = {title.replace(" ", "_") for title in pages}
    return [r for r in generate(spec).records if r.expected.page is not None and r.expected.page.title in titles]


def _leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{pointer}/{name}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _leaves(item, f"{pointer}/{n}")
    else:
        yield pointer, len(orjson.dumps(value))


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(10_000, 60_000))
@example(7, 4_160_950)
def test_an_event_has_exactly_the_bytes_asked_for(seed: int, event_bytes: int) -> None:
    records = _named(seed, {"Huge": {"edits": 3, "event_bytes": event_bytes}})
    assert [len(record.value) for record in records] == [event_bytes] * 3


@settings(max_examples=25, deadline=None)
@given(SEEDS, SEEDS)
def test_every_member_of_every_event_is_as_long_under_any_seed(one: int, other: int) -> None:
    first, second = (
        [
            (r.at, r.key, r.expected.latest_revision, r.expected.parent_revision, dict(_leaves(orjson.loads(r.value))))
            for r in _named(seed)
        ]
        for seed in (one, other)
    )
    assert len(first) == 5
    assert first == second


def test_the_filler_needs_no_escape() -> None:
    (record,) = _named(7, {"Huge": {"event_bytes": 9_000}})
    comment = orjson.loads(record.value)["revision"]["comment"]
    assert comment.isascii()
    assert len(orjson.dumps(comment)) == len(comment) + 2


def test_a_filled_comment_is_not_repeated_as_prior_state() -> None:
    comments = [orjson.loads(r.value)["prior_state"]["revision"]["comment"] for r in _named(7)]
    assert all(len(comment) < 100 for comment in comments)


def test_named_pages_come_first_in_order_and_stand_where_they_are_named() -> None:
    spec = TrafficSpec.model_validate({"seed": 7, "rate": "1/s", "for": "3s", "pages": PAGES})
    pages = generate(spec).pages
    assert [(page.page_id, page.title, page.wiki, page.namespace_id) for page in pages[:2]] == [
        (1, "Huge", "enwiki", 0),
        (2, "Plain_one", "enwiki", 0),
    ]
    assert [len(page.revisions) for page in pages[:2]] == [5, 4]
    assert len(pages) >= 102


def _scripts(text: str) -> set[str]:
    return {unicodedata.name(character, "?").split()[0] for character in text if character.isalpha()}


def test_languages_bring_their_own_scripts() -> None:
    scripts = set().union(*(_scripts("".join(language.words)) for language in languages()))
    expected = "LATIN CJK KATAKANA ARABIC CYRILLIC GREEK HEBREW THAI BENGALI ARMENIAN"
    assert scripts >= set(expected.split())
    assert [language.locale for language in languages()] == list(LOCALES)


@given(st.integers(0, 2**32), st.sampled_from(LOCALES))
def test_titles_are_ones_a_wiki_would_accept(seed: int, locale: str) -> None:
    language = next(language for language in languages() if language.locale == locale)
    title = language.title(Random(seed))
    assert 0 < len(title.encode()) <= 240
    assert not set(title) & set("#<>[]|{} \n")
    assert title == title.strip("_")
    assert unicodedata.is_normalized("NFC", title)
    assert title[0] == title[0].upper()


@given(st.integers(0, 2**32))
def test_the_same_randomness_gives_the_same_words(seed: int) -> None:
    for language in languages():
        one, two = Random(seed), Random(seed)
        assert (language.summary(one), language.name(one)) == (language.summary(two), language.name(two))


def test_summaries_show_what_json_must_escape_and_nothing_at_all() -> None:
    rng = Random(1)
    summaries = [language.summary(rng) for language in languages() for _ in range(60)]
    assert "" in summaries
    assert any('"' in summary for summary in summaries)
    assert any("\t" in summary for summary in summaries)
    assert any(max(map(ord, summary), default=0) > 0xFFFF for summary in summaries)
