"""Terms that no triple store takes, and that wikis have: Wikibase writes URLs and language tags as users typed them.

    <http://e.org/a[1]>      no IRI by RFC 3987, section 2.2    it is percent-encoded: <http://e.org/a%5B1%5D>
    <http://host:name/>      the same, and in its host          the triple is left out
    "ship"@zh-classical      no language tag by BCP 47          the triple is left out

What becomes of a term is a function of that term alone. So it is the same in each revision, where it cancels in a diff,
and in each entity that links a shared node. Two IRIs may become one, as those that end with `%` and with `%25`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from pipeline.events.term_events import InvalidTerm

_Term: TypeAlias = NamedNode | BlankNode | Literal | Triple

_EXCERPT_CHARACTERS = 200
# Scheme and authority are not encoded: that would name another host.
_IRI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:(?://[^/?#]*)?)([^#]*)(?:#(.*))?", re.DOTALL)
_PLANES = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 0xE))
_UCSCHAR = f"\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{_PLANES}\U000e1000-\U000efffd"
_NOT_ALLOWED = re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%{_UCSCHAR}]")
# Literals of these types have a tag.
_TAGGED = frozenset(f"http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}" for name in ("langString", "dirLangString"))


def encode_iri(iri: str) -> str:
    """The IRI with each character that must not stand in its path, query or fragment percent-encoded. One without a
    scheme stays as it is.
    """
    match = _IRI.fullmatch(iri)
    if match is None:
        return iri
    start, path, fragment = match.groups()
    return start + _encode(path) + ("" if fragment is None else f"#{_encode(fragment)}")


def valid_triples(quads: Iterable[Quad], invalid_terms: list[InvalidTerm]) -> Iterator[Triple]:
    """The triples of a document that was parsed without validation, with valid terms; `invalid_terms` gets one for each
    triple that is left out, or has a term that was encoded.
    """
    validation = _Validation()
    for quad in quads:
        triple = quad.triple
        if (valid := validation.valid_triple(triple)) is not None:
            yield valid
        if valid != triple:
            invalid_terms.append(_first_invalid(triple, validation))


def _first_invalid(triple: Triple, validation: "_Validation") -> InvalidTerm:
    """A term for which the triple is left out, or else one that was encoded."""
    terms = (triple.subject, triple.predicate, triple.object)
    lost = [term for term in terms if validation.valid_term(term) is None]
    changed = [term for term in terms if validation.valid_term(term) != term]
    term = str((lost or changed)[0])
    name = triple.predicate.value[:_EXCERPT_CHARACTERS]
    return InvalidTerm(name, term[:_EXCERPT_CHARACTERS], "left_out" if lost else "encoded")


class _Validation:
    """Of one document, which has most of its IRIs and tags more than once."""

    def __init__(self) -> None:
        self._iris: dict[str, NamedNode | None] = {}
        self._tags: dict[str, bool] = {}

    def valid_triple(self, triple: Triple) -> Triple | None:
        """The triple with valid terms; None where there is none."""
        subject, predicate, object_term = map(self.valid_term, (triple.subject, triple.predicate, triple.object))
        if isinstance(predicate, NamedNode) and subject is not None and object_term is not None:
            assert not isinstance(subject, Literal), "no syntax has a literal there"
            return Triple(subject, predicate, object_term)
        return None

    def valid_term(self, term: _Term) -> _Term | None:
        """The term, or a valid one in its place; None where there is none."""
        if isinstance(term, NamedNode):
            return self._valid_iri(term)
        if isinstance(term, Literal):
            return self._valid_literal(term)
        return self.valid_triple(term) if isinstance(term, Triple) else term

    def _valid_iri(self, node: NamedNode) -> NamedNode | None:
        iri = node.value
        if iri not in self._iris:
            self._iris[iri] = _named_node(iri) or _named_node(encode_iri(iri))
        return self._iris[iri]

    def _valid_literal(self, literal: Literal) -> Literal | None:
        if literal.language is not None:
            return literal if self._is_tag(literal.language) else None
        datatype = self._valid_iri(literal.datatype)
        if datatype is None or datatype.value in _TAGGED:
            return None
        return literal if datatype == literal.datatype else Literal(literal.value, datatype=datatype)

    def _is_tag(self, tag: str) -> bool:
        if tag not in self._tags:
            try:
                Literal("", language=tag)
            except ValueError:
                self._tags[tag] = False
            else:
                self._tags[tag] = True
        return self._tags[tag]


def _named_node(iri: str) -> NamedNode | None:
    try:
        return pyoxigraph.NamedNode(iri)
    except ValueError:
        return None


def _encode(text: str) -> str:
    return _NOT_ALLOWED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)
