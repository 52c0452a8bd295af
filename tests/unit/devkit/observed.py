"""Observations made by hand: everything as it should be, and each test changes what it is about."""

from typing import Any

from devkit.observe.arm import ArmObservation, RuleEvidence, Sample
from devkit.observe.audit.model import Audit

A_SAMPLE = Sample(at_s=9.5, committed=160, source_end=161, outputs=120, errors=3, requests=260, in_flight=0)


def an_audit(**changes: Any) -> Audit:
    """161 events that all met their fates."""
    figures = {name: 0 for name in Audit.model_fields if name != "examples"}
    return Audit.model_validate(figures | {"inputs": 161, "outputs": 150, "errors": 4, "filtered": 7} | changes)


def an_observation(**changes: Any) -> ArmObservation:
    values: dict[str, Any] = {
        "duration_s": 12.3456,
        "ended_by": "drained",
        "restarts": 0,
        "replays": 0,
        "replayed_offsets": 0,
        "past_failed_batch": None,
        "drained": True,
        "exceptions": (),
        "last_sample": A_SAMPLE,
        "audit": an_audit(),
        "evidence": (some_evidence(),),
    }
    return ArmObservation(**values | changes)


def some_evidence(**changes: Any) -> RuleEvidence:
    values: dict[str, Any] = {
        "rule": "huge page",
        "requests": 2,
        "completed": 2,
        "max_content_length_bytes": 76_000,
        "max_wire_bytes": 76_000,
        "max_real_bytes": 17_300_042,
        "max_duration_s": 0.4,
    }
    return RuleEvidence(**values | changes)
