"""From a scenario's overlays to the pipeline configuration of an arm, and to the difference between the arms."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pydantic import TypeAdapter

from devkit.scenario.model import ArmName, Scenario
from pipeline.config import PipelineConfig

CONFIG: TypeAdapter[PipelineConfig] = TypeAdapter(PipelineConfig)

# Keys that the stack fills in; a scenario that sets one would only run on one machine.
GIVEN_BY_STACK = (
    ("checkpoint",),
    ("source", "bootstrap_servers"),
    ("sink", "bootstrap_servers"),
    ("mediawiki", "endpoint"),
    ("claim_check", "endpoint"),
    ("claim_check", "bucket"),
)


@dataclass(frozen=True)
class Places:
    """Where the parts of a stack are."""

    bootstrap: str
    mock_endpoint: str
    s3_endpoint: str
    checkpoint: str
    claim_bucket: str
    claim_prefix: str | None = None


NOWHERE = Places("127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1", "s3a://nowhere/here", "nowhere")
"""Stands in where only the scenario's own keys matter."""


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` on top of `base`, mapping by mapping."""
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def raw_configuration(scenario: Scenario, arm: ArmName, places: Places) -> dict[str, Any]:
    """The configuration of an arm before it is checked."""
    given = {
        "source": {"bootstrap_servers": places.bootstrap},
        "sink": {"bootstrap_servers": places.bootstrap},
        "mediawiki": {"endpoint": places.mock_endpoint, "wikis": dict(scenario.traffic.wikis)},
        "checkpoint": places.checkpoint,
        "claim_check": {"endpoint": places.s3_endpoint, "bucket": places.claim_bucket}
        | ({} if places.claim_prefix is None else {"prefix": places.claim_prefix}),
    }
    # The scenario's on top: it sets no key that is given, and where it has no mapping the model says so.
    return merge(given, merge(scenario.pipeline, scenario.overlay(arm)))


def configuration(scenario: Scenario, arm: ArmName, places: Places) -> PipelineConfig:
    """The configuration of an arm. Raises pydantic's ValidationError."""
    return CONFIG.validate_python(raw_configuration(scenario, arm, places))


def tried_configuration(scenario: Scenario, arm: ArmName, places: Places) -> PipelineConfig | None:
    """What is tried first in an arm, with a checkpoint of its own; None where nothing is. Raises ValidationError."""
    overlay = scenario.tried_first.of(arm)
    if overlay is None:
        return None
    apart = replace(places, checkpoint=f"{places.checkpoint}-tried-first")
    return CONFIG.validate_python(merge(raw_configuration(scenario, arm, apart), overlay))


def topics_made_afresh(scenario: Scenario, arms: Iterable[ArmName]) -> tuple[str, ...]:
    """The topics that these arms delete and make again, whatever stack they run on."""
    configs = [configuration(scenario, arm, NOWHERE) for arm in arms]
    names = ((it.source.topic, it.sink.topic, it.sink.error_topic, it.deferral.topic) for it in configs)
    return tuple(sorted(set(chain.from_iterable(names))))


def config_difference(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Keys, as dotted paths, in which the arms differ: `{key: {incident: …, fixed: …}}`."""
    incident, fixed = (
        CONFIG.dump_python(configuration(scenario, arm, NOWHERE), mode="json", by_alias=True)
        for arm in ("incident", "fixed")
    )
    return dict(sorted(_differences(incident, fixed)))


def _differences(incident: Any, fixed: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Down to single values where both arms have a mapping; a mapping against a single value is one difference."""
    if isinstance(incident, dict) and isinstance(fixed, dict):
        for key in incident.keys() | fixed.keys():
            yield from _differences(incident.get(key), fixed.get(key), f"{path}.{key}" if path else key)
    elif incident != fixed:
        yield path, {"incident": incident, "fixed": fixed}
