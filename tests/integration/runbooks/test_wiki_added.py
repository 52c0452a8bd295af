"""docs/runbooks/wiki-added.md: half of the events are of a wiki that the table does not have."""

from tests.integration.crash.bench import Bench
from tests.integration.runbooks.conftest import TRAFFIC, MakeOperator

ROOMS = ("docs/runbooks", "pipeline/config", "pipeline/fetch")
WIKIS = {"enwiki": "en.wikipedia.org", "frwiki": "fr.wikipedia.org"}
SETTINGS = {"mediawiki": {"wikis_file": "wikis.yaml"}}


def test_the_page(make_operator: MakeOperator) -> None:
    # The workers read the table too, by a path that is relative to where their JVM began.
    operator = make_operator("wiki-added.md", traffic=TRAFFIC | {"wikis": WIKIS}, settings=SETTINGS, own_jvm=True)
    bench = operator.bench
    (operator.directory / "wikis.yaml").write_text("enwiki: en.wikipedia.org\n")
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(bench.is_drained, "all events to be emitted")
    refused, passed = unknown(bench), of_wiki(bench)
    assert refused

    operator.step("First check")
    operator.step("Add it")
    operator.until(lambda: operator.logged("wikis_file_read"), "the job to read the table")
    operator.step("See that the job has it")
    operator.step("Send its events again")
    operator.until(operator.has_nothing_left, "the events that were sent again to be emitted")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    assert unknown(bench) == refused, "the wiki's events still end in error events"
    assert of_wiki(bench) >= passed + refused


def of_wiki(bench: Bench) -> int:
    """Its outputs; deletes pass without a fetch, and so without a host."""
    return sum(b'"wiki_id":"frwiki"' in one.value for one in bench.outputs())


def unknown(bench: Bench) -> int:
    return sum(b'"unknown_wiki"' in one.value for one in bench.errors())
