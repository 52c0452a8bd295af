"""However fetches end and whatever is deferred, the store ends as if events had come one by one.

Set-up: the main lane's task in the engine, with the real job, claim store and removal over a store in memory. Each
payload goes to the store; some events are deferred when they are tried first, and their pages' later ones with them.
Checked: what is stored at the end, that no removal runs ahead of an earlier event of its page, and that the same events
once more, as after a crash, end in the same.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import boto3
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import log
from pipeline.claims.removal import ClaimRemoval
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.batch_budget import BatchBudget
from pipeline.deferral.lane import OPEN_FENCE, MainLane
from pipeline.deferral.task import LedgerTarget, MainTask, page_of
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import HTML, Route
from pipeline.jobs import registry
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import InTurn, SourceMessage
from pipeline.records.claim_check import ClaimStore
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.error_event import Failure
from pipeline.records.record import Position, Record
from pipeline.records.suppression import Suppression
from pipeline.worker.engine import LoopThread, ResultBuffer
from tests.unit.pipeline.claims.conftest import BUCKET, PREFIX, Bucket
from tests.unit.pipeline.one_by_one import run

LEDGER = "ledger"
FLAGS = {"hide": {"is_content_visible": False}, "hide comment": {"is_comment_visible": False}}
kinds = st.sampled_from(["edit", "edit", "delete", "undelete", *FLAGS])
# Page, kind, which of its revisions, and whether it is slow when it is tried first.
plans = st.lists(st.tuples(st.integers(1, 2), kinds, st.integers(1, 3), st.booleans()), max_size=12)


@dataclass
class Wiki:
    """Takes some turns of the loop for each answer; `slow` events get none."""

    rng: random.Random
    slow: frozenset[str] = frozenset()

    def deadline(self, limit_s: float) -> Deadline:
        return Deadline(limit_s, lambda: 0.0)

    async def fetch(
        self,
        _wiki: str,
        rev_id: int,
        *,
        request_id: str,
        deadline: Deadline,
        route: Route = HTML,
        compressed: bool = False,
    ) -> FetchedText:
        for _ in range(self.rng.randrange(5)):
            await asyncio.sleep(0)
        if request_id.split(":")[0] in self.slow:
            raise FetchFailedError(Failure("deadline_exceeded", "slow"), transient=True)
        return FetchedText(f"<p>{rev_id}</p>", None)


@dataclass
class Checked:
    """A removal that looks whether its turn has come."""

    inner: ClaimRemoval
    messages: Sequence[SourceMessage]
    emitted: set[Position] = field(default_factory=set)

    async def remove(self, suppression: Suppression, origin: ClaimOrigin) -> None:
        position = origin.position
        (page,) = {one.key for one in self.messages if one.position == position}
        before = {one.position for one in self.messages if one.key == page and one.position.offset < position.offset}
        assert before <= self.emitted, "a removal ran ahead"
        await self.inner.remove(suppression, origin)


@dataclass
class World:
    """A store, and jobs over it."""

    config: PipelineConfig
    bucket: Bucket
    messages: Sequence[SourceMessage]

    def job(self, wiki: Wiki) -> tuple[Enrichment[Any, Any], Checked]:
        client = cast("WikiClient", wiki)
        store, inner = ClaimStore(self.config.claim_check), ClaimRemoval(self.config.claim_check)
        for one in (store, inner):
            one._client.get()  # at once: an upload that was cut may outlive this world, and must not reach the next
        removal = Checked(inner, self.messages)
        job = registry.JOBS[self.config.job](self.config, client)
        return Enrichment(self.config, job, client, store, removal), removal

    def stored(self) -> set[str]:
        return {key for key in self.bucket.objects if not key.endswith(".suppressed")}

    def one_by_one(self) -> None:
        job, removal = self.job(Wiki(random.Random(0)))

        async def go() -> None:
            for message in self.messages:
                outcome = await job.process(message, limit_s=1)
                if isinstance(outcome, InTurn):
                    await outcome.finish()
                removal.emitted.add(message.position)

        asyncio.run(go())

    def batches(self, thread: LoopThread, rng: random.Random, slow: frozenset[str]) -> None:
        """All events in a batch, and what it deferred in the next ones."""
        left, wiki = list(self.messages), Wiki(rng, slow)
        job, removal = thread.call(lambda: _made(lambda: self.job(wiki)))
        while left:
            task = MainTask(
                job=job,
                lane=MainLane(OPEN_FENCE),
                target=LedgerTarget(LEDGER, epoch=1, limit_bytes=1_000_000, batch=1, task=1),
                limit_s=5,
                backoff_ms=lambda _asked_s: 0,
                now_ms=lambda: 0,
                budget=BatchBudget(300, 5),
            )
            deferred: list[SourceMessage] = []

            def settle(
                message: SourceMessage, outcome: Any, task: MainTask = task, to: Any = deferred
            ) -> Record | None:
                record = task.settle(message, outcome)
                if record is not None and record.topic == LEDGER:
                    to.append(message)
                else:
                    removal.emitted.add(message.position)
                return record

            results = run(
                left,
                task.process,
                settle,
                thread=thread,
                key_of=page_of,
                max_started=20,
                buffer=ResultBuffer(1_000_000, lambda _: 1),
                in_turn=task.in_turn,
            )
            list(results)
            left = sorted(deferred, key=lambda message: message.position.offset)
            wiki.slow = frozenset()


async def _made(make: Callable[[], Any]) -> Any:
    return make()


def messages_of(
    plan: list[tuple[int, str, int, bool]], make_event: Callable[..., dict[str, Any]]
) -> list[SourceMessage]:
    messages = []
    for offset, (page, kind, revision, _) in enumerate(plan):
        event = make_event(
            "visibility_change" if kind in FLAGS else kind,
            page_id=page,
            meta={"id": str(UUID(int=offset + 1))},
            revision={"rev_id": page * 10 + revision, "rev_parent_id": page * 10 + revision - 1} | FLAGS.get(kind, {}),
        )
        position = Position("source", 0, offset)
        when = datetime(2026, 3, 2, tzinfo=UTC)
        messages.append(SourceMessage(position, b"%d" % page, orjson.dumps(event), when))
    return messages


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(plan=plans, rng=st.randoms(use_true_random=False))
def test_the_store_ends_as_if_events_had_come_one_by_one(
    make_config: Callable[..., PipelineConfig],
    make_event: Callable[..., dict[str, Any]],
    loop_thread: LoopThread,
    in_time: Callable[..., Any],
    plan: list[tuple[int, str, int, bool]],
    rng: random.Random,
) -> None:
    places = {"bucket": BUCKET, "prefix": PREFIX, "suppressed": "remove"}
    config = make_config(claim_check=places, content_limit={"max_bytes": 0})
    messages = messages_of(plan, make_event)
    slow = frozenset(str(UUID(int=offset + 1)) for offset, one in enumerate(plan) if one[3])
    ended = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "emit", lambda _event: None)
        for through in ("one by one", "batches"):
            world = World(config, Bucket(), messages)
            patch.setattr(boto3, "client", lambda *_, bucket=world.bucket, **__: bucket)
            if through == "one by one":
                world.one_by_one()
            else:
                in_time(lambda world=world: world.batches(loop_thread, rng, slow))
                first = world.stored()
                in_time(lambda world=world: world.batches(loop_thread, rng, slow))
                assert world.stored() == first, "the same once more ends in something else"
            ended.append(world.stored())
    assert ended[0] == ended[1]
