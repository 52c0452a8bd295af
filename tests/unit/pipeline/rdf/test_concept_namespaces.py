import pytest

from pipeline.rdf.concept_namespaces import ConceptNamespaces, is_in_namespace


def test_namespaces_stand_below_the_base_and_skolem_iris_below_the_host() -> None:
    namespaces = ConceptNamespaces("http://e.org:8080/data/")
    assert namespaces.entity_node("Q1") == "<http://e.org:8080/data/entity/Q1>"
    assert namespaces.statement == "<http://e.org:8080/data/entity/statement/"
    assert namespaces.skolem == "<http://e.org:8080/.well-known/genid/"
    assert namespaces.data == (
        "<http://e.org:8080/data/wiki/Special:EntityData/",
        "<https://e.org:8080/data/wiki/Special:EntityData/",
    )


@pytest.mark.parametrize("base", ["", "www.wikidata.org", "http://"])
def test_a_base_without_scheme_and_host_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="is no IRI with scheme and host"):
        ConceptNamespaces(base)


@pytest.mark.parametrize(
    ("term", "is_in"),
    [
        ("<http://e.org/entity/Q1>", True),
        ("<http://e.org/entity/statement/Q1-1>", False),
        ("<http://e.org/value/1>", False),
        ('"http://e.org/entity/Q1"', False),
    ],
)
def test_a_namespace_has_what_is_directly_below_it(term: str, *, is_in: bool) -> None:
    assert is_in_namespace(term, "<http://e.org/entity/") is is_in
