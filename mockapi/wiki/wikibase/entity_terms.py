"""Labels, descriptions, aliases and sitelinks of an entity, and the forms and senses of a lexeme."""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote

from mockapi.draws import digest
from mockapi.wiki.pages.elements import Bits
from mockapi.wiki.pages.prose import LANGUAGES, prose
from mockapi.wiki.wikibase.entity_source import EntitySource, Sitelinks
from mockapi.wiki.wikibase.vocabulary import TYPE, Triple, text

_MOST_TERMS: Final = 5
_MOST_SITELINKS: Final = 8
_DESCRIBED_EVERY: Final = 4
_SITES: Final[Mapping[str, tuple[str, str, str]]] = {
    **{f"{language}wiki": (f"{language}.wikipedia.org", language, "wikipedia") for language in LANGUAGES},
    **{f"{language}wikiquote": (f"{language}.wikiquote.org", language, "wikiquote") for language in ("en", "fr")},
    "dewikisource": ("de.wikisource.org", "de", "wikisource"),
    "commonswiki": ("commons.wikimedia.org", "en", "commons"),
}
_BADGES: Final = ("Q17437796", "Q17437798")
_PATH_SAFE: Final = ";@$!*(),/~:"


def draw_labels(key: bytes, source: EntitySource) -> dict[str, str]:
    """By language: those of the source, else drawn for a few languages, always English."""
    bits = _bits(key, "labels")
    languages = dict.fromkeys(("en", *(bits.of(LANGUAGES) for _ in range(_MOST_TERMS - 1))))
    drawn = {language: f"{bits.of(prose(language).topics)} {1 + bits.below(1000)}" for language in languages}
    return _present(drawn, source.labels)


def describe_item(key: bytes, entity: str, edits: int, source: EntitySource) -> Iterator[Triple]:
    """The terms of an item or a property; each fourth edit writes the descriptions anew."""
    subject, labels = f"wd:{entity}", draw_labels(key, source)
    for language, label in labels.items():
        for predicate in ("rdfs:label", "skos:prefLabel", "schema:name"):
            yield subject, predicate, text(label, language)
    bits = _bits(key, "descriptions", edits // _DESCRIBED_EVERY)
    drawn = {language: bits.of(prose(language).plain) for language in labels}
    for language, description in _present(drawn, source.descriptions).items():
        yield subject, "schema:description", text(description, language)
    aliases = {"en": tuple(dict.fromkeys(bits.of(prose("en").topics) for _ in range(bits.below(3))))}
    for language, names in {**aliases, **source.aliases}.items():
        for name in names:
            yield subject, "skos:altLabel", text(name, language)


def draw_sitelinks(keys: Mapping[str, bytes], source: EntitySource) -> Sitelinks:
    """Those of several items, by id: of a site the first has its own. No drawn title is that of another item."""
    links: dict[str, tuple[str, tuple[str, ...]]] = {}
    for item, key in keys.items():
        links = {**_own_sitelinks(key, item), **links}
    links |= source.sitelinks
    return {site: link for site, link in links.items() if link[0] and site in _SITES}


def _own_sitelinks(key: bytes, item: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    bits = _bits(key, "sitelinks")
    drawn: dict[str, tuple[str, tuple[str, ...]]] = {}
    for _ in range(bits.below(_MOST_SITELINKS + 1)):
        site = bits.of(tuple(_SITES))
        title = f"{bits.of(prose(_SITES[site][1]).topics)} {item[1:]}"
        drawn[site] = (title, (bits.of(_BADGES),) if bits.below(6) == 0 else ())
    return drawn


def describe_sitelinks(entity: str, links: Sitelinks) -> Iterator[Triple]:
    """An article each, and the group of its wiki."""
    for site, (title, badges) in links.items():
        domain, language, group = _SITES[site]
        wiki = f"<https://{domain}/>"
        article = f"<https://{domain}/wiki/{quote(title.replace(' ', '_'), safe=_PATH_SAFE)}>"
        yield article, TYPE, "schema:Article"
        yield article, "schema:about", f"wd:{entity}"
        yield article, "schema:inLanguage", text(language)
        yield article, "schema:isPartOf", wiki
        yield article, "schema:name", text(title, language)
        for badge in badges:
            yield article, "wikibase:badge", f"wd:{badge}"
        yield wiki, "wikibase:wikiGroup", text(group)


def lexeme_parts(key: bytes, entity: str) -> tuple[list[str], list[str]]:
    """The ids of its forms, `L7-F1` and on, and of its senses, `L7-S1` and on; at least one of each."""
    bits = _bits(key, "parts")
    forms, senses = 1 + bits.below(6), 1 + bits.below(3)
    return [f"{entity}-F{n}" for n in range(1, forms + 1)], [f"{entity}-S{n}" for n in range(1, senses + 1)]


def describe_lexeme(key: bytes, entity: str, source: EntitySource) -> Iterator[Triple]:
    """Lemmas, which are the labels of its source, with language and category; then forms and senses."""
    subject, bits = f"wd:{entity}", _bits(key, "lexeme")
    lemmas = draw_labels(key, source)
    forms, senses = lexeme_parts(key, entity)
    yield subject, TYPE, "ontolex:LexicalEntry"
    for language, lemma in lemmas.items():
        yield subject, "rdfs:label", text(lemma, language)
        yield subject, "wikibase:lemma", text(lemma, language)
    yield subject, "dct:language", f"wd:Q{1 + bits.below(1000)}"
    yield subject, "wikibase:lexicalCategory", f"wd:Q{1 + bits.below(1000)}"
    for form in forms:
        yield subject, "ontolex:lexicalForm", f"wd:{form}"
    for sense in senses:
        yield subject, "ontolex:sense", f"wd:{sense}"
    for form in forms:
        yield f"wd:{form}", TYPE, "wikibase:Form"
        yield f"wd:{form}", TYPE, "ontolex:Form"
        for language, lemma in lemmas.items():
            representation = text(f"{lemma} {form.rpartition('-')[2]}", language)
            yield f"wd:{form}", "rdfs:label", representation
            yield f"wd:{form}", "ontolex:representation", representation
        yield f"wd:{form}", "wikibase:grammaticalFeature", f"wd:Q{1 + bits.below(1000)}"
    for sense in senses:
        yield f"wd:{sense}", TYPE, "wikibase:Sense"
        yield f"wd:{sense}", TYPE, "ontolex:LexicalSense"
        gloss = text(bits.of(prose("en").plain), "en")
        yield f"wd:{sense}", "rdfs:label", gloss
        yield f"wd:{sense}", "skos:definition", gloss


def _present(drawn: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    return {language: value for language, value in {**drawn, **given}.items() if value}


def _bits(key: bytes, *purpose: object) -> Bits:
    return Bits(int.from_bytes(digest(key.hex(), *purpose, size=64), "big"))
