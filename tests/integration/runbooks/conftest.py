"""A job whose topics and places have the names that the runbooks show, on the session's real parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient

from devkit.guardian import Guardian
from devkit.programs.places import merge
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from pipeline.jobs.names import JOB_DEFAULTS
from tests.integration.crash.bench import Bench
from tests.integration.crash.warm_jvm import WarmJvm
from tests.integration.runbooks.apply_place import ApplyPlace
from tests.integration.runbooks.operator import Operator

JOB = "html-enrichment"
NAMES = JOB_DEFAULTS[JOB]
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 7,
    "rate": "400/s",
    "for": "100ms",
    "population": 8,
    "pages": {"Slow": {"edits": 2}},
}
TOPICS: dict[str, Any] = {
    "source": {"topic": NAMES.source_topics[0]},
    "sink": {"topic": NAMES.output_topic, "error_topic": NAMES.error_topic},
    "deferral": {"topic": NAMES.deferred_topic},
}

MakeOperator = Callable[..., Operator[Bench]]
MakeApplyOperator = Callable[[str], Operator[ApplyPlace]]


@pytest.fixture
def make_operator(stack: tuple[Guardian, Stack], warm_jvm: WarmJvm, tmp_path: Path) -> Iterator[MakeOperator]:
    """Makes the job and the traffic of a page; nothing runs yet. What an earlier page's job left is removed."""
    made: list[Operator[Bench]] = []

    def make(
        page: str,
        *,
        traffic: Mapping[str, Any] = TRAFFIC,
        rules: Sequence[Mapping[str, Any]] = (),
        settings: Mapping[str, Any] | None = None,
        own_jvm: bool = False,
    ) -> Operator[Bench]:
        remove_leftovers(stack[1])
        bench = Bench(
            *stack, tmp_path / "job", JOB, traffic=traffic, rules=rules, settings=merge(TOPICS, settings or {})
        )
        made.append(Operator(bench, page, warm_jvm=None if own_jvm else warm_jvm))
        return made[-1]

    yield make
    for operator in made:
        operator.close()
        operator.bench.close()
    warm_jvm.clear()


@pytest.fixture
def make_apply_operator(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[MakeApplyOperator]:
    """Makes `apply`, an empty topic of mutations and an empty triple store; `apply` does not run yet."""
    made: list[Operator[ApplyPlace]] = []

    def make(page: str) -> Operator[ApplyPlace]:
        place = ApplyPlace(*stack, tmp_path / "apply")
        operator = Operator(place, page, program="apply", log="apply.log", started="apply_started")
        operator.names = {"9411": str(place.metrics_port), "127.0.0.1:9092": stack[1].kafka.bootstrap}
        made.append(operator)
        return operator

    yield make
    for operator in made:
        operator.close()
        operator.bench.close()


def remove_leftovers(stack: Stack) -> None:
    """Checkpoints, claim checks and ledgers of the names that all pages share."""
    client = stack.object_store.client()
    for bucket in (CHECKPOINTS, CLAIM_CHECKS):
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=JOB):
            for found in page.get("Contents", ()):
                client.delete_object(Bucket=bucket, Key=found["Key"])
    delete_topics(stack.kafka.bootstrap, NAMES.deferred_topic)


def delete_topics(bootstrap: str, *names: str) -> None:
    """Those that are there."""
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        there = [name for name in names if name in admin.list_topics()]
        if there:
            admin.delete_topics(there)
