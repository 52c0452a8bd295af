"""Observations made by hand: everything as it should be, and each test changes what it is about."""

from dataclasses import fields, replace
from typing import Any

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import ArmObservation, Evidence
from devkit.observe.audit.model import Audit
from devkit.observe.figures import Answers, Figures
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.program_observation import ProgramObservation
from devkit.observe.samples.sample import Sample

A_SAMPLE = Sample(at_s=9.5, committed=160, source_end=161, outputs=120, errors=3, requests=260, in_flight=0)


def an_audit(**changes: Any) -> Audit:
    """161 events that all met their fates."""
    figures = {name: 0 for name in Audit.model_fields if name not in ("examples", "unaudited")}
    return Audit.model_validate(figures | {"inputs": 161, "outputs": 150, "errors": 4, "filtered": 7} | changes)


def some_latencies(*seconds: float, waiting: tuple[float, ...] = ()) -> Latencies:
    """Events of one page that left after so long, and some that have not after so long; no rule picks pages."""
    left = tuple(EventLatency(("enwiki", 1), 0, after, is_emitted=True) for after in seconds)
    not_left = tuple(EventLatency(("enwiki", 1), 0, age, is_emitted=False) for age in waiting)
    return Latencies(left + not_left, frozenset())


def some_figures(**changes: Any) -> Figures:
    """260 requests, one for each fetch, all of them answered 200."""
    values: dict[str, Any] = {
        "requests": 260,
        "fetches": 260,
        "max_attempt": 1,
        "amplification": 1.0,
        "answers": Answers.counted({"200": 260}),
        "answers_after_fault": None,
        "parses": 260,
        "abandoned": 0,
        "abandoned_share": 0.0,
        "peak_queue": 0,
        "flat_commit": None,
        "deferred_ever": 0,
        "latency": some_latencies(0.4, 0.5).figures(),
        "healthy_latency": None,
        "peak_memory_bytes": 1_200_000_000,
        "mean_cpu_cores": 0.7,
    }
    return Figures.model_validate(values | changes)


OF_PROGRAM = frozenset(field.name for field in fields(ProgramObservation)) - {"audit", "not_observable"}


def an_observation(**changes: Any) -> ArmObservation:
    """Changes of what is observed of a program are the main program's, `ended_with` among them."""
    of_main = {name: changes.pop(name) for name in OF_PROGRAM & changes.keys()}
    if (code := changes.pop("ended_with", None)) is not None:
        of_main |= {"exit_codes": (code,), "is_over": True}
    values: dict[str, Any] = {
        "duration_s": 12.3456,
        "end": EndByCondition(reached={"drained": 1}),
        "programs": (a_program("", **{"log": {}} | of_main),),
        "replayed_offsets": 0,
        "past_failed_batch": None,
        "drained": True,
        "last_sample": A_SAMPLE,
        "figures": some_figures(),
        "latencies": some_latencies(0.4, 0.5),
        "audit": an_audit(),
        "evidence": (some_evidence(),),
    }
    return ArmObservation(**values | changes)


def observed_with(observation: ArmObservation, **changes: Any) -> ArmObservation:
    """Another observation with changes, those of the main program among them."""
    of_main = {name: changes.pop(name) for name in OF_PROGRAM & changes.keys()}
    main, *others = observation.programs
    return replace(observation, programs=(replace(main, **of_main), *others), **changes)


def some_evidence(**changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "fault": "huge page",
        "fired": True,
        "requests": 2,
        "completed": 2,
        "max_content_length_bytes": 76_000,
        "max_wire_bytes": 76_000,
        "max_real_bytes": 17_300_042,
        "max_duration_s": 0.4,
    }
    return Evidence(**values | changes)


def a_program(name: str, **changes: Any) -> ProgramObservation:
    """One that ran to the arm's end and showed everything."""
    values: dict[str, Any] = {
        "name": name,
        "run": "pipeline",
        "started": True,
        "restarts": 0,
        "replays": 0,
        "exit_codes": (),
        "is_over": False,
        "failures": (),
        "stalls": (),
        "exceptions": (),
        "log": {"started": 1},
        "not_observable": frozenset(),
    }
    return ProgramObservation(**values | changes)
