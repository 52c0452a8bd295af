from typing import Any

import pytest

from devkit.scenario.model import Topics
from devkit.scenario.topics import slots_of_arm, topics_of_arm
from pipeline.config import PipelineConfig

SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
DEFERRED = "mw_page_html_content_change_enrich.deferred"


def configured(policy: str, rounds: int = 1) -> PipelineConfig:
    return PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "s3a://nowhere/here",
            "deferral": {"policy": policy, "slow_lane": {"rounds": rounds}},
        }
    )


def made(topics: dict[str, Any], policy: str) -> dict[str, tuple[int, dict[str, str]]]:
    return topics_of_arm(Topics.model_validate(topics), configured(policy))


def test_each_has_its_own_settings_and_the_brokers_clock() -> None:
    wanted = made({"source": {"partitions": 3}, "output": {"max.message.bytes": "32MiB"}}, "none")
    assert wanted == {
        SOURCE: (3, {"message.timestamp.type": "LogAppendTime"}),
        OUTPUT: (1, {"max.message.bytes": "33554432", "message.timestamp.type": "LogAppendTime"}),
        ERROR: (1, {"message.timestamp.type": "LogAppendTime"}),
    }


@pytest.mark.parametrize(("source", "source_bytes"), [({}, 1_048_588), ({"max.message.bytes": "8MiB"}, 8_388_608)])
def test_the_deferral_topic_is_compacted_and_takes_what_the_source_does(
    source: dict[str, Any], source_bytes: int
) -> None:
    partitions, settings = made({"source": source}, "defer")[DEFERRED]
    assert partitions == 1
    assert settings["max.message.bytes"] == str(source_bytes + 65_536)
    assert settings["cleanup.policy"] == "compact"
    assert int(settings["min.compaction.lag.ms"]) >= 3_600_000


@pytest.mark.parametrize(
    ("partitions", "rounds", "policy", "slots"),
    [
        (1, 1, "defer", 4),
        (3, 1, "defer", 4),
        (4, 1, "defer", 5),
        (3, 4, "defer", 7),
        (4, 9, "none", 4),
        (6, 9, "none", 6),
    ],
)
def test_each_partition_and_each_slow_round_has_its_slot(partitions: int, rounds: int, policy: str, slots: int) -> None:
    topics = Topics.model_validate({"source": {"partitions": partitions}})
    assert slots_of_arm(topics, configured(policy, rounds)) == slots
