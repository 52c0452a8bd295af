"""Where a Wikibase keeps its nodes: the namespaces below its concept base, `http://www.wikidata.org` for Wikidata."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class ConceptNamespaces:
    """Each namespace is the beginning of a term of N-Triples, with its `<`. `base` is an IRI without a slash at its
    end; raises ValueError for one without scheme and host.
    """

    base: str
    data: tuple[str, str] = field(init=False)
    """Of the nodes about an entity's document; exports have them with http and with https."""
    entity: str = field(init=False)
    statement: str = field(init=False)
    reference: str = field(init=False)
    value: str = field(init=False)
    property: str = field(init=False)
    no_value: str = field(init=False)
    skolem: str = field(init=False)
    """Of IRIs in the place of blank nodes (RDF 1.1, section 3.5): of the host, not of the base."""

    def __post_init__(self) -> None:
        base = self.base.rstrip("/")
        parts = urlsplit(base)
        if not parts.scheme or not parts.netloc:
            raise ValueError(f"concept base {self.base!r} is no IRI with scheme and host")
        below_scheme = base.removeprefix(f"{parts.scheme}:")
        namespaces = {
            "data": tuple(f"<{scheme}:{below_scheme}/wiki/Special:EntityData/" for scheme in ("http", "https")),
            "entity": f"<{base}/entity/",
            "statement": f"<{base}/entity/statement/",
            "reference": f"<{base}/reference/",
            "value": f"<{base}/value/",
            "property": f"<{base}/prop/",
            "no_value": f"<{base}/prop/novalue/",
            "skolem": f"<{parts.scheme}://{parts.netloc}/.well-known/genid/",
        }
        for name, prefix in namespaces.items():
            object.__setattr__(self, name, prefix)

    def entity_node(self, entity: str) -> str:
        """The term of an entity, or of a form or sense of a lexeme, by its id."""
        return f"{self.entity}{entity}>"


def is_in_namespace(term: str, namespace: str) -> bool:
    """Whether a term of N-Triples is an IRI directly below the namespace: one with a further slash is not."""
    return term.startswith(namespace) and "/" not in term[len(namespace) :]
