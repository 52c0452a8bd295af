import json
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import CHOICES
from pipeline.deferral.ledger_start import LedgerMark
from pipeline.driver.identity import Identity, require_checkpoint, require_own
from pipeline.errors import RefusedError
from pipeline.state.state_mark import StateMark

OWN = Identity(job="html-enrichment", source="page_change", cluster="c1", sink="html")


def test_an_identity_comes_from_the_configuration_and_survives_its_file(
    make_config: Callable[..., PipelineConfig],
) -> None:
    made = Identity.of(make_config(), "c1")
    assert made == Identity(
        job="html-enrichment",
        source="mediawiki.page_change.v1",
        cluster="c1",
        sink="mediawiki.page_html_content_change.v1",
    )
    assert Identity.read(made.model_dump_json(), "x") == made
    later = made.model_dump_json().replace("{", '{"more": 1, ', 1)
    assert Identity.read(later, "x") == made, "a later version may say more"


def test_one_topic_stands_in_the_file_as_it_always_did(make_config: Callable[..., PipelineConfig]) -> None:
    made = Identity.of(make_config(), None)
    assert json.loads(made.model_dump_json())["source"] == "mediawiki.page_change.v1"
    old = '{"job": "html-enrichment", "source": "page_change", "cluster": "c1", "sink": "html"}'
    assert Identity.read(old, "x") == OWN


def test_several_topics_are_a_set(make_config: Callable[..., PipelineConfig]) -> None:
    """In whatever order the configuration names them; one more or one less is another job's."""
    made, other_order, fewer = (
        Identity.of(make_config(source={"topics": topics}), None) for topics in (["b", "a"], ["a", "b"], ["a"])
    )
    assert made == other_order == Identity.read(made.model_dump_json(), "x")
    assert "from topics a, b to" in made.in_words()
    require_own(made, other_order, checkpoint="place", topics=["a", "b"])
    with pytest.raises(RefusedError, match=r"source topic a, b, not a$"):
        require_own(made, fewer, checkpoint="place")
    with pytest.raises(RefusedError, match="offsets of topic c, not a, b"):
        require_own(None, made, checkpoint="place", topics=["a", "c"])


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", '{"job": 5}'])
def test_a_file_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match=r"checkpoint s3a://b/c: job.json does not say whose it is: "):
        Identity.read(text, "s3a://b/c")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"job": "content-enrichment"}, "job content-enrichment, not html-enrichment"),
        ({"source": ("other",)}, "source topic other, not page_change"),
        ({"source": ("a", "b")}, "source topic a, b, not page_change"),
        ({"sink": "other"}, "sink topic other, not html"),
        ({"cluster": "c2"}, "source cluster c2, not c1"),
    ],
)
def test_another_jobs_checkpoint_is_refused_with_the_choices(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RefusedError, match=f"checkpoint place is another job's: {message}$") as caught:
        require_own(OWN.model_copy(update=change), OWN, checkpoint="place")
    assert CHOICES in str(caught.value.hint)
    assert "checkpoint fork" in str(caught.value.hint)


@pytest.mark.parametrize("found", [OWN, OWN.model_copy(update={"cluster": None}), None])
def test_ones_own_and_one_that_nobody_has_marked_are_taken(found: Identity | None) -> None:
    require_own(found, OWN, checkpoint="place", topics=["page_change"])


def test_a_copy_gets_the_output_of_the_job_that_starts_from_it() -> None:
    copied = Identity.read(OWN.model_copy(update={"sink": None}).model_dump_json(), "x")
    other = OWN.model_copy(update={"sink": "other"})
    require_own(copied, other, checkpoint="place")
    assert copied.completed(other, None) == other
    assert copied.in_words() == (
        "html-enrichment, from topic page_change in cluster c1; a copy, which no job has started from"
    )
    with pytest.raises(RefusedError, match=r"is another job's: job html-enrichment, not rdf-decide$"):
        require_own(copied, other.model_copy(update={"job": "rdf-decide"}), checkpoint="place")


def test_a_cluster_that_does_not_say_who_it_is_is_no_reason() -> None:
    require_own(OWN, OWN.model_copy(update={"cluster": None}), checkpoint="place")


def test_without_a_mark_the_offsets_decide() -> None:
    with pytest.raises(RefusedError, match=r"is another job's: offsets of topic a, b, not page_change"):
        require_own(None, OWN, checkpoint="place", topics=["b", "a", "page_change"])


@pytest.mark.parametrize(
    "entries",
    [[], ["metadata", "sources", "offsets", "commits"], ["job.json", ".job.json.crc", ".metadata.crc", "state"]],
)
def test_a_place_that_is_empty_or_a_checkpoint(entries: list[str]) -> None:
    require_checkpoint(entries, "place")


def test_a_place_that_holds_something_else_is_not_written_to() -> None:
    with pytest.raises(RefusedError, match="place is no checkpoint of a job's: it holds a, b, c and 1 more"):
        require_checkpoint(["d", "c", "metadata", "b", "a"], "place")


MARK = LedgerMark("ledger", "id-1", 4)


def test_a_source_topic_that_was_made_again_is_anothers() -> None:
    known = OWN.model_copy(update={"source_ids": {"page_change": "a"}})
    require_own(known, OWN, checkpoint="place")
    require_own(known, known, checkpoint="place")
    with pytest.raises(RefusedError, match=r"id of topic page_change a, not b$"):
        require_own(known, OWN.model_copy(update={"source_ids": {"page_change": "b"}}), checkpoint="place")


def test_a_file_of_an_earlier_version_is_read_and_completed() -> None:
    earlier = Identity.read('{"job": "html-enrichment", "source": "page_change", "cluster": null, "sink": "html"}', "x")
    assert (earlier.source_ids, earlier.ledger) == ({}, None)
    own = OWN.model_copy(update={"source_ids": {"page_change": "a"}})
    completed = earlier.completed(own, MARK)
    assert completed == own.model_copy(update={"ledger": MARK})
    assert Identity.read(completed.model_dump_json(), "x") == completed


def test_what_a_start_makes_of_the_state_is_written() -> None:
    state = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=2, delay_ms=9)
    known, own = (OWN.model_copy(update={"state": state.model_copy(update={"delay_ms": ms})}) for ms in (9, 5))
    assert known.completed(own, None) == own, "the shortest delay"
    assert known.completed(OWN, None) == known


def test_what_is_known_stays() -> None:
    known = OWN.model_copy(update={"ledger": MARK})
    assert known.completed(OWN, LedgerMark("ledger", "id-1", 9)) == known, "nothing to write at each start"
    assert known.completed(OWN, None) == known, "a job that defers nothing for once"
    emptied = LedgerMark("ledger", "id-1", 1)
    assert known.completed(OWN, emptied).ledger == emptied, "or the next restart would be refused again"
    other = LedgerMark("other", "id-2", 1)
    assert known.completed(OWN, other).ledger == other, "an operator has said so"
