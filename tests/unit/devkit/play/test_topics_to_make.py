from typing import Any

import pytest

from devkit.play.topics_to_make import topics_to_make
from devkit.programs.places import NOWHERE
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.spark.configuration import configuration, topics_of
from devkit.scenario.stack_settings import Topics

SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
DEFERRED = "mw_page_html_content_change_enrich.deferred"


def made(topics: dict[str, Any], policy: str) -> dict[str, tuple[int, dict[str, str]]]:
    return topics_to_make(
        Topics.model_validate(topics), ProgramTopics((SOURCE,), OUTPUT, ERROR, DEFERRED, policy == "defer")
    )


def test_each_has_its_own_settings_and_the_brokers_clock() -> None:
    wanted = made({"source": {"partitions": 3}, "output": {"max.message.bytes": "32MiB"}}, "none")
    assert wanted == {
        SOURCE: (3, {"message.timestamp.type": "LogAppendTime"}),
        OUTPUT: (1, {"max.message.bytes": "33554432", "message.timestamp.type": "LogAppendTime"}),
        ERROR: (1, {"message.timestamp.type": "LogAppendTime"}),
    }


def test_every_source_topic_is_made() -> None:
    names = ProgramTopics((SOURCE, "links"), OUTPUT, ERROR, DEFERRED, defers=False)
    wanted = topics_to_make(Topics.model_validate({"source": {"partitions": 3}}), names)
    assert wanted["links"] == wanted[SOURCE] == (3, {"message.timestamp.type": "LogAppendTime"})
    assert "links" in names.names()


def test_sources_whose_records_have_their_own_time_keep_them_whatever_their_age() -> None:
    names = ProgramTopics((SOURCE, "links"), OUTPUT, ERROR, DEFERRED, defers=False)
    wanted = topics_to_make(Topics(), names, own_times=True)
    _, settings = wanted[SOURCE]
    assert wanted["links"] == wanted[SOURCE]
    assert (settings["message.timestamp.type"], settings["retention.ms"]) == ("CreateTime", "-1")
    assert wanted[OUTPUT][1] == wanted[ERROR][1] == {"message.timestamp.type": "LogAppendTime"}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({}, "LogAppendTime"),
        ({"read": "aligned"}, "CreateTime"),
        ({"deduplicate": {"within": "10s"}}, "CreateTime"),
        ({"deduplicate": {"within": "ever"}}, "LogAppendTime"),
    ],
)
def test_sources_of_a_program_that_goes_by_event_time_have_it(source: dict[str, Any], kind: str) -> None:
    config = configuration(NOWHERE, {"source": {"topics": [SOURCE, "links"], **source}})
    wanted = topics_to_make(Topics(), topics_of(config))
    assert {wanted[one][1]["message.timestamp.type"] for one in (SOURCE, "links")} == {kind}


@pytest.mark.parametrize(("source", "source_bytes"), [({}, 1_048_588), ({"max.message.bytes": "8MiB"}, 8_388_608)])
def test_the_deferral_topic_is_compacted_and_takes_what_the_source_does(
    source: dict[str, Any], source_bytes: int
) -> None:
    partitions, settings = made({"source": source}, "defer")[DEFERRED]
    assert partitions == 1
    assert settings["max.message.bytes"] == str(source_bytes + 65_536)
    assert settings["cleanup.policy"] == "compact"
    assert int(settings["min.compaction.lag.ms"]) >= 3_600_000


@pytest.mark.parametrize(("job", "wanted"), [("rdf-resolve", ["rdf-streaming-updater.fetch-failure"]), (None, [])])
def test_fetch_failures_have_a_topic_like_that_of_error_events(job: str | None, wanted: list[str]) -> None:
    names = topics_of(configuration(NOWHERE, {}, job))
    made = topics_to_make(Topics.model_validate({"error": {"partitions": 2, "max.message.bytes": "2MiB"}}), names)
    assert names.errors == (names.error, *wanted)
    assert set(names.errors) < set(names.names())
    assert [topic for topic, settings in made.items() if settings == made[names.error]] == [names.error, *wanted]


def test_lapsed_events_have_a_topic_where_the_program_makes_some() -> None:
    names = ProgramTopics((SOURCE,), OUTPUT, ERROR, DEFERRED, defers=False, lapsed="lapsed")
    assert topics_to_make(Topics(), names)["lapsed"] == (1, {"message.timestamp.type": "LogAppendTime"})
    assert "lapsed" in names.names()
