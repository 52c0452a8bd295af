"""Munging: of a Wikibase export's triples those that a query service keeps, with the document's node on the entity.

    kept       the entity, its forms and senses; its statements, and each reference and value that is linked from a kept
               node; sitelinks and wiki groups; definitions of a property; nodes that were blank
    dropped    common types; `schema:name` and `skos:prefLabel`, which repeat a label; labels of a lexeme, its forms and
               senses; other entities; nodes that nothing links; the rest of the document's node
    moved      version, date and all of `wikibase:` from the document's node to the entity
    changed    blank nodes become skolem IRIs; literals over 32,767 characters are cut

The rules are those of the Wikidata Query Service (its `Munger`), with reachability in place of the order of lines.
Left out: fewer languages, one label for each entity, exports without sitelinks, types that are kept on demand, the
coordinates of format 0.0.1 in the other order, and entities whose namespaces are not below one base (mediainfo). The
service counts UTF-16 units of a long literal; here they are code points.
"""

from collections.abc import Iterable, Iterator

from pipeline.rdf.concept_namespaces import ConceptNamespaces, is_in_namespace
from pipeline.rdf.triples import Triple, cut_literal, join_terms, split_terms
from pipeline.rdf.vocabulary import (
    ONTOLEX_LEXICAL_FORM,
    ONTOLEX_SENSE,
    OWL_SAME_AS,
    RDF_TYPE,
    RDFS_LABEL,
    SCHEMA_ARTICLE,
    SCHEMA_DATE_MODIFIED,
    SCHEMA_NAME,
    SCHEMA_VERSION,
    SKOS_PREF_LABEL,
    WIKIBASE_FORM,
    WIKIBASE_ITEM,
    WIKIBASE_LEXEME,
    WIKIBASE_PREFIX,
    WIKIBASE_REFERENCE,
    WIKIBASE_SENSE,
    WIKIBASE_STATEMENT,
    WIKIBASE_WIKI_GROUP,
)

MAX_LITERAL_CHARACTERS = 32_767
_DROPPED_TYPES = frozenset(
    {WIKIBASE_ITEM, WIKIBASE_LEXEME, WIKIBASE_FORM, WIKIBASE_SENSE, WIKIBASE_STATEMENT, WIKIBASE_REFERENCE}
)
_REPEATED_LABELS = frozenset({SCHEMA_NAME, SKOS_PREF_LABEL})
_SUB_ENTITY_LINKS = frozenset({ONTOLEX_LEXICAL_FORM, ONTOLEX_SENSE})
_DOCUMENT_PREDICATES = (SCHEMA_VERSION, SCHEMA_DATE_MODIFIED)

_Nodes = dict[str, list[Triple]]
"""Triples by their subject."""


class IncompleteEntityError(ValueError):
    """A document without version and date of the entity that says no redirect either, or without what it links."""


class ConceptBaseError(Exception):
    """A document that has the entity below another concept base than the job's."""


def munge(triples: Iterable[Triple], entity: str, namespaces: ConceptNamespaces) -> frozenset[Triple]:
    """The triples of one entity's document that are kept. Munging them again changes nothing.

    Raises IncompleteEntityError and ConceptBaseError.
    """
    nodes = _group_by_subject(triples, namespaces)
    root = namespaces.entity_node(entity)
    if root not in nodes:
        _require_concept_base(nodes, entity, namespaces)
    nodes[root] = [*nodes.get(root, ()), *_moved_triples(nodes, root, namespaces)]
    _check_complete(nodes[root], entity)
    sub_entities = {
        object_term for _, predicate, object_term in _edges(nodes[root]) if predicate in _SUB_ENTITY_LINKS
    } - {root}
    kept = set(_entity_triples(nodes[root], has_labels=not entity.startswith("L")))
    for sub_entity in sub_entities:
        kept.update(_entity_triples(nodes.get(sub_entity, ()), has_labels=False))
    kept.update(_linked_triples(nodes, {root, *sub_entities}, namespaces))
    kept.update(_other_triples(nodes, namespaces))
    return frozenset(kept)


def _require_concept_base(nodes: _Nodes, entity: str, namespaces: ConceptNamespaces) -> None:
    end = f"/entity/{entity}>"
    for node in nodes:
        if node.endswith(end):
            raise ConceptBaseError(
                f"{entity} is below {node[1 : -len(end)]} in its document; rdf.concept_base is {namespaces.base}"
            )


def _group_by_subject(triples: Iterable[Triple], namespaces: ConceptNamespaces) -> _Nodes:
    """With skolem IRIs in the place of blank nodes, and long literals cut."""
    nodes: _Nodes = {}
    for line in triples:
        triple = _skolemize(line, namespaces) if "_:" in line else line
        if len(triple) > MAX_LITERAL_CHARACTERS:
            triple = cut_literal(triple, MAX_LITERAL_CHARACTERS)
        subject = triple[: triple.index(" ")]
        if subject in nodes:
            nodes[subject].append(triple)
        else:
            nodes[subject] = [triple]
    return nodes


def _skolemize(triple: Triple, namespaces: ConceptNamespaces) -> Triple:
    def skolem(term: str) -> str:
        return f"{namespaces.skolem}{term[2:]}>" if term.startswith("_:") else term

    subject, predicate, object_term = split_terms(triple)
    return join_terms(skolem(subject), predicate, skolem(object_term))


def _edges(triples: Iterable[Triple]) -> Iterator[tuple[Triple, str, str]]:
    """Each triple with its predicate and object. They are not kept: tuples by the thousand are work for the garbage
    collector, which makes a large entity twice as slow.
    """
    for triple in triples:
        _, predicate, rest = triple.split(" ", 2)
        yield triple, predicate, rest[:-2]


def _moved_triples(nodes: _Nodes, root: str, namespaces: ConceptNamespaces) -> Iterator[Triple]:
    for subject, triples in nodes.items():
        if subject.startswith(namespaces.data):
            for _, predicate, object_term in _edges(triples):
                if predicate in _DOCUMENT_PREDICATES or predicate.startswith(WIKIBASE_PREFIX):
                    yield join_terms(root, predicate, object_term)


def _check_complete(triples: Iterable[Triple], entity: str) -> None:
    predicates = {predicate for _, predicate, _ in _edges(triples)}
    missing = [predicate for predicate in _DOCUMENT_PREDICATES if predicate not in predicates]
    if missing and OWL_SAME_AS not in predicates:
        raise IncompleteEntityError(f"the document of {entity} does not say {' or '.join(missing)}")


def _entity_triples(triples: Iterable[Triple], *, has_labels: bool) -> Iterator[Triple]:
    for triple, predicate, object_term in _edges(triples):
        is_dropped_type = predicate == RDF_TYPE and object_term in _DROPPED_TYPES
        is_dropped_label = predicate in _REPEATED_LABELS or (predicate == RDFS_LABEL and not has_labels)
        if not is_dropped_type and not is_dropped_label:
            yield triple


def _linked_triples(nodes: _Nodes, owners: set[str], namespaces: ConceptNamespaces) -> Iterator[Triple]:
    """Of the statements of `owners`, and of the references and values that are linked from these or one another. Raises
    IncompleteEntityError for one that is linked and not described: Wikibase describes all, so the document was cut off.
    """
    waiting = [
        object_term
        for owner in owners
        for _, predicate, object_term in _edges(nodes.get(owner, ()))
        if is_in_namespace(object_term, namespaces.statement) and is_in_namespace(predicate, namespaces.property)
    ]
    shared = (namespaces.reference, namespaces.value)
    visited = set(waiting)
    while waiting:
        node = waiting.pop()
        if node not in nodes:
            raise IncompleteEntityError(f"the document links {node} and says nothing of it")
        for triple, predicate, object_term in _edges(nodes[node]):
            if predicate != RDF_TYPE or object_term not in _DROPPED_TYPES:
                yield triple
            if object_term.startswith(shared) and object_term not in visited:
                visited.add(object_term)
                waiting.append(object_term)


def _other_triples(nodes: _Nodes, namespaces: ConceptNamespaces) -> Iterator[Triple]:
    """Of sitelinks, wiki groups, definitions of a property and nodes that were blank."""
    below_base = (namespaces.entity, namespaces.reference, namespaces.value, *namespaces.data)
    for subject, triples in nodes.items():
        if subject.startswith(below_base):
            continue
        is_kept_whole = subject.startswith((namespaces.skolem, namespaces.no_value)) or any(
            predicate == RDF_TYPE and object_term == SCHEMA_ARTICLE for _, predicate, object_term in _edges(triples)
        )
        is_property = subject.startswith(namespaces.property)
        for triple, predicate, _ in _edges(triples):
            if is_kept_whole or predicate == WIKIBASE_WIKI_GROUP or (is_property and predicate == RDF_TYPE):
                yield triple
