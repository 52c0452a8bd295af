import unicodedata
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.vocabulary import LOCALES, languages


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
