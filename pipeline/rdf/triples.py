"""Triples as text: a triple is one line of canonical N-Triples, `SUBJECT PREDICATE OBJECT .`, without the line's end.

Equal triples are equal lines, so sets, diffs and sizes need no other form, and a line is valid in Turtle and in the
data of a SPARQL update. Terms are separated by single spaces, and only an object may contain one.
https://www.w3.org/TR/rdf12-n-triples/#canonical-ntriples
"""

from collections.abc import Iterable

import pyoxigraph

from pipeline.events.term_events import InvalidTerm
from pipeline.rdf.terms import valid_triples

Triple = str
TURTLE = "text/turtle"


class InvalidRdfError(ValueError):
    """Text that is no Turtle; `line` and `column` count from 1."""

    def __init__(self, source: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{source}: no Turtle at line {line}, column {column}: {reason}")
        self.line = line
        self.column = column


def parse_triples(text: str | bytes, *, source: str, invalid_terms: list[InvalidTerm] | None = None) -> list[Triple]:
    """The triples of a Turtle document, in its order, as stores take them: see `pipeline.rdf.terms`. Bytes are UTF-8.
    `source` names the document in an error; `invalid_terms` gets the terms that are not as the document has them.

    Labels of blank nodes stay as they are, as Wikibase writes the same label in each revision. A node without a label,
    `[…]`, gets a random one. Raises InvalidRdfError.
    """
    try:
        return _lines(pyoxigraph.parse(text, pyoxigraph.RdfFormat.TURTLE))
    except SyntaxError:
        # To look at each term takes several times as long, and few documents need it.
        quads = pyoxigraph.parse(text, pyoxigraph.RdfFormat.TURTLE, lenient=True)
    try:
        return _lines(valid_triples(quads, [] if invalid_terms is None else invalid_terms))
    except SyntaxError as error:
        raise InvalidRdfError(source, error.lineno or 1, error.offset or 1, error.msg.partition(": ")[2]) from error


def _lines(triples: Iterable[pyoxigraph.Quad] | Iterable[pyoxigraph.Triple]) -> list[Triple]:
    lines = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert lines is not None, "only with an output there is no result"
    return lines.decode().split("\n")[:-1]


def split_terms(triple: Triple) -> tuple[str, str, str]:
    """Subject, predicate and object, each as a term of N-Triples."""
    subject, predicate, object_term = triple[:-2].split(" ", 2)
    return subject, predicate, object_term


def join_terms(subject: str, predicate: str, object_term: str) -> Triple:
    """The triple of three terms of N-Triples."""
    return f"{subject} {predicate} {object_term} ."


def serialize_triples(triples: Iterable[Triple]) -> str:
    """N-Triples text, which is Turtle as well: each line with its end; empty without triples."""
    return "".join(f"{triple}\n" for triple in triples)


def cut_literal(triple: Triple, characters: int) -> Triple:
    """The triple with its object cut to a number of characters (code points) where it is a longer literal; language or
    datatype stay.
    """
    subject, predicate, object_term = split_terms(triple)
    if not object_term.startswith('"') or len(object_term) <= characters:
        return triple
    literal = next(pyoxigraph.parse(triple, pyoxigraph.RdfFormat.N_TRIPLES)).object
    assert isinstance(literal, pyoxigraph.Literal), "a term in quotes is a literal"
    if len(literal.value) <= characters:
        return triple
    value = literal.value[:characters]
    if literal.language is not None:
        return join_terms(subject, predicate, str(pyoxigraph.Literal(value, language=literal.language)))
    return join_terms(subject, predicate, str(pyoxigraph.Literal(value, datatype=literal.datatype)))
