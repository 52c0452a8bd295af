"""What is said of RDF terms that no triple store takes."""

from dataclasses import dataclass
from typing import Literal, NamedTuple


class InvalidTerm(NamedTuple):
    """A term of a triple that is no IRI by RFC 3987, or has a language tag that is none by BCP 47. `property` is the
    IRI of the triple's predicate. An `encoded` term was percent-encoded; for one of `left_out` the triple was left out.
    """

    property: str
    term: str
    outcome: Literal["encoded", "left_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidTerms:
    """An entity has terms that no triple store takes. `rdf-resolve` logs it for each revision that it makes a mutation
    of, and `apply` for each record of a mutation.
    """

    event: Literal["invalid_terms"] = "invalid_terms"
    entity: str
    """Id of the entity."""
    revision: int
    """The revision that was read, or that the mutation leads to."""
    encoded: int
    """Number of triples with a term that was percent-encoded."""
    left_out: int
    """Number of triples that were left out."""
    terms: tuple[InvalidTerm, ...]
    """The first ten of them as `[PROPERTY, TERM, OUTCOME]`: the IRI of the triple's predicate, the term as it was read,
    both cut after 200 characters, and `encoded` or `left_out`.
    """


_NAMED = 10


def invalid_terms_of(entity: str, revision: int, terms: tuple[InvalidTerm, ...]) -> InvalidTerms:
    """The event about all of them."""
    left_out = sum(term.outcome == "left_out" for term in terms)
    return InvalidTerms(
        entity=entity, revision=revision, encoded=len(terms) - left_out, left_out=left_out, terms=terms[:_NAMED]
    )
