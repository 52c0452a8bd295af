"""Which Wikibase the streaming updater reads, and how its mutations are cut."""

from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from located_config.size import Size
from pipeline.config.section import MIB, Host, Section
from pipeline.rdf.concept_namespaces import ConceptNamespaces


def _concept_base(base: str) -> str:
    ConceptNamespaces(base)
    return base


class Rdf(Section):
    """The Wikibase of `rdf-decide` and `rdf-resolve`."""

    wiki: str = Field(
        default="wikidatawiki", min_length=1, description="Wiki of `mediawiki.wikis` that has the entities."
    )
    domain: Host = Field(
        default="www.wikidata.org", description="`meta.domain` of the wiki's events, and of mutations."
    )
    concept_base: Annotated[str, AfterValidator(_concept_base)] = Field(
        default="http://www.wikidata.org",
        description="IRI below which the entities' nodes are, without a slash at its end.",
    )
    chunk_characters: PositiveInt = Field(
        default=128_000,
        description="Characters of triples in one record of a mutation, at most; a longer triple has a record of its "
        "own.",
    )
    keep_last: Annotated[Size, Field(ge=0)] = Field(
        default=64 * MIB,
        description="Bytes of compressed triples of last revisions that each host keeps on disk, so that the next diff "
        "of an entity fetches one revision and not two; 0 keeps none.",
    )
