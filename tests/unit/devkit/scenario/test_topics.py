from typing import Any

import pytest

from devkit.scenario.model import Topics
from devkit.scenario.topics import topics_of_arm
from pipeline.config import PipelineConfig

SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
DEFERRED = "mw_page_html_content_change_enrich.deferred"


def made(topics: dict[str, Any], policy: str) -> dict[str, tuple[int, dict[str, str]]]:
    config = PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "s3a://nowhere/here",
            "deferral": {"policy": policy},
        }
    )
    return topics_of_arm(Topics.model_validate(topics), config)


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
    assert settings.pop("max.message.bytes") == str(source_bytes + 65_536)
    assert settings == {"cleanup.policy": "compact", "min.compaction.lag.ms": "86400000"}
