"""The triples that a query service has of an entity, made of its document: the kit's own reading of the rules.

    item       terms, statements with what they lead to, sitelinks with the groups of their wikis
    property   the same without sitelinks, and the definitions of its predicates
    lexeme     with its forms and senses and the statements of these; their labels only repeat other triples
    redirect   where it leads, and its revision

It shares no code with the pipeline, so that a mistake there is no mistake here. Terms are as in N-Triples.
https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format
"""

from collections import defaultdict
from typing import NamedTuple

import pyoxigraph

BASE = "http://www.wikidata.org"
_SCHEMA, _WIKIBASE = "http://schema.org/", "http://wikiba.se/ontology#"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_ABOUT, _PART_OF, _GROUP = f"<{_SCHEMA}about>", f"<{_SCHEMA}isPartOf>", f"<{_WIKIBASE}wikiGroup>"
_ARTICLE, _DATASET = f"<{_SCHEMA}Article>", f"<{_SCHEMA}Dataset>"
_REPEATED_LABELS = {f"<{_SCHEMA}name>", "<http://www.w3.org/2004/02/skos/core#prefLabel>"}
_OF_DOCUMENT = {f"<{_SCHEMA}version>", f"<{_SCHEMA}dateModified>"}
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_LEXEME_PARTS = {f"<http://www.w3.org/ns/lemon/ontolex#{name}>" for name in ("lexicalForm", "sense")}
_COMMON_TYPES = {f"<{_WIKIBASE}{name}>" for name in ("Item", "Lexeme", "Form", "Sense", "Statement", "Reference")}
_SHARED = tuple(f"<{BASE}/{path}/" for path in ("reference", "value"))
_LINKED = (*_SHARED, *(f"<{BASE}/{path}/" for path in ("entity/statement", "prop", ".well-known/genid")))
_LASTING = (*_SHARED, *(f"<{BASE}/{path}/" for path in ("prop", ".well-known/genid")))
_OF_ARTICLE = {
    f"<{name}>" for name in (f"{_SCHEMA}inLanguage", f"{_SCHEMA}isPartOf", f"{_SCHEMA}name", f"{_WIKIBASE}badge")
}
_MOST_CHARACTERS = 32_767


class Triple(NamedTuple):
    """Subject, predicate and object."""

    subject: str
    predicate: str
    object: str


def entity_node(entity: str) -> str:
    """The term of an entity."""
    return f"<{BASE}/entity/{entity}>"


def is_shared(triple: Triple) -> bool:
    """Whether another entity may have it too: of a reference, of a value, or the group of a wiki."""
    return triple.subject.startswith(_SHARED) or triple.predicate == _GROUP


def may_be_unlinked(triple: Triple) -> bool:
    """Whether it may stay without an entity that links its subject: of a reference or value, the group of a wiki, of an
    article, or of a property's definitions.
    """
    subject, predicate, object_ = triple
    of_article = predicate in _OF_ARTICLE or (predicate, object_) == (_TYPE, _ARTICLE)
    return of_article or predicate == _GROUP or subject.startswith(_LASTING)


def entity_triples(document: bytes, entity: str) -> frozenset[Triple]:
    """Of the dump's N-Triples or Turtle of an entity, those that are kept."""
    nodes = _nodes(document)
    root = entity_node(entity)
    parts = {triple.object for triple in nodes[root] if triple.predicate in _LEXEME_PARTS}
    labels = _REPEATED_LABELS | {_LABEL} if entity[0] == "L" else _REPEATED_LABELS
    kept = {triple for node in (root, *parts) for triple in nodes[node] if triple.predicate not in labels}
    for document_node, triples in nodes.items():
        objects = {(triple.predicate, triple.object) for triple in triples}
        if (_ABOUT, root) not in objects:
            continue
        if (_TYPE, _DATASET) in objects:
            moved = (triple for triple in triples if _is_moved(triple))
            kept |= {Triple(root, triple.predicate, triple.object) for triple in moved}
        elif (_TYPE, _ARTICLE) in objects:
            wikis = {triple.object for triple in nodes[document_node] if triple.predicate == _PART_OF}
            kept |= set(triples) | {triple for wiki in wikis for triple in nodes.get(wiki, ())}
    _follow_links(nodes, kept)
    return frozenset(triple for triple in kept if not (triple.predicate == _TYPE and triple.object in _COMMON_TYPES))


def _is_moved(triple: Triple) -> bool:
    return triple.predicate in _OF_DOCUMENT or triple.predicate.startswith(f"<{_WIKIBASE}")


def _follow_links(nodes: dict[str, list[Triple]], kept: set[Triple]) -> None:
    """Statements, references, values and definitions that are linked from what is kept, and from these in turn."""
    seen: set[str] = set()
    new = set(kept)
    while new:
        linked = {triple.object for triple in new if triple.object.startswith(_LINKED)} - seen
        seen |= linked
        new = {triple for node in linked for triple in nodes.get(node, ())} - kept
        kept |= new


def _nodes(document: bytes) -> dict[str, list[Triple]]:
    nodes: dict[str, list[Triple]] = defaultdict(list)
    for quad in pyoxigraph.parse(document, pyoxigraph.RdfFormat.TURTLE):
        subject, object_ = _term(quad.subject), _term(quad.object)
        nodes[subject].append(Triple(subject, str(quad.predicate), object_))
    return nodes


def _term(term: object) -> str:
    if isinstance(term, pyoxigraph.BlankNode):
        return f"<{BASE}/.well-known/genid/{term.value}>"
    if isinstance(term, pyoxigraph.Literal) and len(term.value) > _MOST_CHARACTERS:
        cut = term.value[:_MOST_CHARACTERS]
        return str(pyoxigraph.Literal(cut, language=term.language) if term.language else pyoxigraph.Literal(cut))
    return str(term)
