"""One stream of mutations into two triple stores, Oxigraph and Apache Jena Fuseki: both then have the same triples.

Set-up: a topic, and for each store an `apply` that probes. Steps: entities are imported and changed; both programs and
both stores are ended and started again; each store loses a triple and gets another one behind `apply`'s back; the
entities are changed further, one is deleted by query, one is written anew, one is imported again.

Stores write numbers in forms of their own: Oxigraph has 1.5 for 1.50 and 1000 for 1E3, TDB2 keeps some and shortens
others. So literals of numbers, booleans and times are compared by value, and tags of languages in lower case. Strings
and IRIs are compared as they are.
"""

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from devkit.errors import SetupError
from devkit.guardian import Guardian
from devkit.observe.stored_triples import read_triples
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from mockapi.wiki.catalog import CatalogPage, CatalogRevision, Located
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.sparql_target import SparqlTarget
from pipeline.config.apply_config import Apply
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, is_shared, state_in_full
from pipeline.rdf.triples import parse_triples, serialize_triples, split_terms
from pipeline.records.record import Position, Record
from tests.fuseki_server import FusekiServer
from tests.integration.test_apply import produce, running_apply
from tests.oxigraph_server import OxigraphServer, free_port

ROOMS = ("pipeline/apply", "pipeline/rdf")
TOPIC = "apply.two-stores"
DOMAIN, BASE = "www.wikidata.org", "http://www.wikidata.org"
NAMESPACES = ConceptNamespaces(BASE)
DEADLINE = timedelta(seconds=120)
XSD = "http://www.w3.org/2001/XMLSchema#"
LITERAL = re.compile(r'(".*")(?:\^\^<(.+)>|@(\S+))')
# The second of each pair takes the place of the first, with another value: a store that keeps values alone has the same
# one before and after, which a probe counts as unexpected. No integer is beyond 64 bits: TDB2 6.2.0 has another one in
# its place after a restart. Wikibase writes quantities as decimals.
ODD_OBJECTS = (
    (f'"01"^^<{XSD}integer>', f'"+2"^^<{XSD}integer>'),
    (f'"1.50"^^<{XSD}decimal>', f'"+2.5"^^<{XSD}decimal>'),
    (f'"1E3"^^<{XSD}double>', f'"0.001"^^<{XSD}double>'),
    (f'"1"^^<{XSD}boolean>', f'"false"^^<{XSD}boolean>'),
    (f'"2026-03-02T09:00:00.000Z"^^<{XSD}dateTime>', f'"2026-03-02T10:00:00+00:00"^^<{XSD}dateTime>'),
    (f'"-13798000000-01-01T00:00:00Z"^^<{XSD}dateTime>', f'"-0044-03-15T00:00:00Z"^^<{XSD}dateTime>'),
    (f'"123456789012345678901234567890"^^<{XSD}decimal>', f'"0.10000000000000000000000000000001"^^<{XSD}decimal>'),
    (f'"no number"^^<{XSD}integer>', f'"2026-02-31T00:00:00Z"^^<{XSD}dateTime>'),
    ('"Kai \\"am\\" Hafen\\n\\t\\\\ é 😀"@de-AT', '"quay"@en-GB'),
    ('"Point(-12.5 47)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>', '""'),
    # As Wikidata has them, and no store takes them.
    ("<http://e.org/a[1]?b=%>", "<http://e.org/#crew?oldid=1#officers>"),
    ("<http://e.org/100%>", "<http://e.org/100%25>"),
    ("<http://пример/Ä[漢]😀`>", "<http://[::1/x>"),
    ("<http://host:name/x>", "<no-scheme>"),
    ('"ship"@zh-classical', '"boat"@mis-x-q113819406'),
)
ODD = "Q99"


@dataclass
class AppliedStore:
    """A store, and the configuration of the `apply` that writes to it."""

    server: OxigraphServer
    config: Path

    @property
    def endpoint(self) -> TripleStore:
        update = self.server.update_url
        query = update.removesuffix("update") + "query"
        return TripleStore(query, update, query, update)

    def next_offset(self) -> int | None:
        target = SparqlTarget(Apply(endpoint=self.server.update_url), lambda _: False)
        return MutationStore(target, NAMESPACES, TOPIC).next_offset()

    def triples(self) -> list[tuple[str, str, str]]:
        """All but the id of the last request, which no two processes share."""
        triples = (by_value(triple) for triple in read_triples(self.endpoint))
        return sorted(triple for triple in triples if triple[1] != "<urn:enrichment:last-request>")

    def log(self) -> list[dict[str, object]]:
        lines = (self.config.parent / "log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def counts(self) -> Counter[str]:
        counts = Counter[str]()
        for line in self.log():
            if line["event"] == "mutations_applied":
                names = ("mutations", "cleared", "deleted", "inserted", "probed", "missing", "unexpected")
                counts.update({name: int(str(line[name])) for name in names})
        return counts


def by_value(triple: str) -> tuple[str, str, str]:
    """The terms of a triple, its object in one form for each value."""
    subject, predicate, object_term = split_terms(triple)
    match = LITERAL.fullmatch(object_term)
    if match is None:
        return subject, predicate, object_term
    text, datatype, language = match[1], match[2], match[3]
    if language is not None:
        return subject, predicate, f"{text}@{language.lower()}"
    return subject, predicate, f"{value_of(text[1:-1], datatype)}^^<{datatype}>"


def value_of(text: str, datatype: str) -> str:
    try:
        match datatype.removeprefix(XSD):
            case "integer" | "decimal":
                plain = f"{Decimal(text):f}"
                return plain.rstrip("0").rstrip(".") if "." in plain else plain
            case "double":
                return repr(float(text))
            case "boolean":
                return {"1": "true", "0": "false"}.get(text, text)
            case "dateTime":
                return re.sub(r"(?:\.0+)?(?:Z|\+00:00)$", "Z", text)
    except ArithmeticError:
        pass
    return text


def entity_at(number: int, revision: int) -> frozenset[str]:
    """The munged triples of an item of the mock."""
    start, low = datetime(2026, 1, 1, tzinfo=UTC), 4096 * number
    revisions = tuple(
        CatalogRevision(rev_id=low + n, parent_id=low + n - 1 if n > 1 else 0, timestamp=start + timedelta(hours=n))
        for n in range(1, revision + 1)
    )
    page = CatalogPage(
        wiki="wikidatawiki",
        domain=DOMAIN,
        page_id=number,
        namespace_id=0,
        title=f"Q{number}",
        content_model="wikibase-item",
        revisions=revisions,
    )
    document = EntityRdf("ttl").write(7, Located(page, revisions[-1]))
    return munge(parse_triples(document, source=page.title), page.title, NAMESPACES)


def odd_triples(which: int) -> tuple[str, ...]:
    node = NAMESPACES.entity_node(ODD)
    return tuple(f"{node} <{BASE}/prop/direct/P{n}> {pair[which]} ." for n, pair in enumerate(ODD_OBJECTS, start=1))


def mutation(entity: str, op: Op, sequence: int, diff: TripleDiff) -> list[Record]:
    revision = 4096 * int(entity.removeprefix("Q")) + sequence
    operation = Operation(
        entity, op, revision, None, "2026-03-02T09:00:00Z", sequence, (Position("source", 0, sequence),)
    )
    return [made.record for made in mutation_records(operation, diff, topic=TOPIC, domain=DOMAIN, characters=4_000)]


def first_records() -> list[Record]:
    """Items are imported in several chunks each, one gets a second revision."""
    nothing = frozenset[str]()
    items = range(1, 5)
    records = [
        record
        for number in items
        for record in mutation(f"Q{number}", "import", 1, diff_revisions(nothing, entity_at(number, 1), NAMESPACES))
    ]
    changed = diff_revisions(entity_at(1, 1), entity_at(1, 2), NAMESPACES)
    records += mutation("Q1", "diff", 2, changed)
    return records + mutation(ODD, "import", 1, TripleDiff(added=odd_triples(0)))


CHANGED = diff_revisions(entity_at(2, 1), entity_at(2, 3), NAMESPACES)


def second_records() -> list[Record]:
    """Two entities change, one is deleted by query, one is written anew, one is imported over what the stores have."""
    return [
        *mutation("Q2", "diff", 2, CHANGED),
        *mutation("Q3", "delete", 2, TripleDiff()),
        *mutation(ODD, "diff", 2, TripleDiff(added=odd_triples(1), deleted=odd_triples(0))),
        *mutation("Q4", "reconcile", 2, state_in_full(entity_at(4, 2))),
        *mutation("Q1", "import", 4, diff_revisions(frozenset(), entity_at(1, 4), NAMESPACES)),
    ]


@pytest.fixture
def stores(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[tuple[AppliedStore, AppliedStore]]:
    with ExitStack() as started:
        made = []
        for kind in (OxigraphServer, FusekiServer):
            directory = tmp_path / kind.__name__
            (directory / "store").mkdir(parents=True)
            server = kind(directory / "store", free_port())
            started.callback(server.kill)
            try:
                server.start()
            except SetupError as error:
                pytest.skip(f"Apache Jena Fuseki cannot be had: {error}")
            config = directory / "apply.yaml"
            source = {
                "bootstrap_servers": stack[1].kafka.bootstrap,
                "topic": TOPIC,
                "group": f"apply-{kind.__name__}",
            }
            apply = {"endpoint": server.update_url, "concept_base": BASE, "count": "probe", "batch_triples": 200}
            config.write_text(json.dumps({"source": source, "apply": apply, "metrics": {"port": 0}}))
            made.append(AppliedStore(server, config))
        yield made[0], made[1]


def apply_records(
    stores: tuple[AppliedStore, ...], stack: Stack, records: list[Record], end: int, *arguments: str
) -> None:
    """Both programs are at work when the records come, so that all of them are probed; then they are stopped."""
    with ExitStack() as running:
        processes = [running.enter_context(running_apply(store.config, stack, *arguments)) for store in stores]

        def await_all(what: str, offset: int | None) -> None:
            def is_reached() -> bool:
                assert all(process.poll() is None for process in processes), [store.log() for store in stores]
                if offset is not None:
                    return all(store.next_offset() == offset for store in stores)
                return all(any(line["event"] == "apply_started" for line in store.log()) for store in stores)

            wait_until(is_reached, what=what, deadline=DEADLINE)

        await_all("both programs to have started", None)
        produce(stack, records)
        await_all(f"both stores to have offset {end}", end)
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for process in processes] == [0, 0]


def test_both_stores_have_the_same_triples(
    stack: tuple[Guardian, Stack], stores: tuple[AppliedStore, AppliedStore]
) -> None:
    running = stack[1]
    recreate_topics(running.kafka.direct, {TOPIC: (1, {})})
    first, second = first_records(), second_records()
    apply_records(stores, running, first, len(first), "--new", "earliest")
    oxigraph, fuseki = (store.triples() for store in stores)
    assert oxigraph == fuseki
    assert len(oxigraph) > 1_000
    counts = [store.counts() for store in stores]
    assert counts[0] == counts[1]
    assert (counts[0]["missing"], counts[0]["unexpected"], counts[0]["mutations"]) == (0, 0, 6)
    assert counts[0]["probed"] > 1_000

    for store in stores:
        store.server.kill()
        store.server.start()
        assert store.triples() == oxigraph
        store.endpoint.change(f"DELETE DATA {{ {CHANGED.deleted[0]} }} ; INSERT DATA {{ {CHANGED.added[0]} }}")
    apply_records(stores, running, second, len(first) + len(second))
    oxigraph, fuseki = (store.triples() for store in stores)
    assert oxigraph == fuseki
    counts = [store.counts() for store in stores]
    assert counts[0] == counts[1]
    assert (counts[0]["missing"], counts[0]["unexpected"], counts[0]["cleared"]) == (1, 1, 3)

    node = NAMESPACES.entity_node
    subjects = {subject for subject, _, _ in oxigraph}
    assert node("Q3") not in subjects
    odd = parse_triples(serialize_triples(odd_triples(1)), source=ODD)
    assert len(odd) == len(ODD_OBJECTS) - len({"host", "scheme", "tag"})
    assert {by_value(triple) for triple in odd} == {triple for triple in oxigraph if triple[0] == node(ODD)}
    invalid = [line["terms"] for line in stores[1].log() if line["event"] == "invalid_terms"]
    assert [len(terms) for terms in invalid] == [5 + 4], "one of the second ones is valid"
    expected = {
        by_value(triple) for number, revision in ((1, 4), (2, 3), (4, 2)) for triple in entity_at(number, revision)
    }
    assert expected <= set(oxigraph)
    before = {by_value(triple) for triple in entity_at(1, 2) - entity_at(1, 4) if not is_shared(triple, NAMESPACES)}
    assert before
    assert not before & set(oxigraph)
    offsets = [triple for triple in oxigraph if triple[1] == "<urn:enrichment:next-offset>"]
    assert [value.partition("^^")[0] for _, _, value in offsets] == [str(len(first) + len(second))]
