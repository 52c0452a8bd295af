"""A checkpoint that is lost, in a store made of a dictionary."""

from dataclasses import replace
from typing import cast

import psutil
import pytest
from mypy_boto3_s3 import S3Client

from devkit.errors import StackError
from devkit.faults.fault import Context, MainProgram, Undo
from devkit.faults.programs.lose_checkpoint import LoseCheckpoint
from devkit.observe.checkpoint import Checkpoint
from tests.unit.devkit.faults.fakes import context
from tests.unit.devkit.observe.fake_s3 import FakeS3


class LateStore(FakeS3):
    """A write that was under way comes in when all has been deleted once."""

    late: tuple[str, ...] = ("fixed/x/commits/2",)

    def delete_objects(self, *, Bucket: str, Delete: dict[str, object]) -> None:  # noqa: N803
        super().delete_objects(Bucket=Bucket, Delete=Delete)
        for key in self.late:
            self.put(Bucket, key, "v1")
        self.late = ()


def of(store: FakeS3, *processes: psutil.Process, plans: list[Undo] | None = None) -> Context:
    checkpoint = Checkpoint(cast(S3Client, store), "checkpoints", "fixed/x", ("t",))
    plan = (lambda _undo: None) if plans is None else plans.append
    return replace(context(plan=plan), main=MainProgram(checkpoint, lambda: processes))


def full(store: FakeS3) -> FakeS3:
    for name in ("metadata", "offsets/0", "commits/0"):
        store.put("checkpoints", f"fixed/x/{name}", "v1")
    store.put("checkpoints", "fixed/y/metadata", "v1")
    return store


def test_what_was_under_way_is_deleted_as_well() -> None:
    store = full(LateStore())
    proof = LoseCheckpoint().begin(of(store)).end()
    assert proof.did == "no process of the program ran; deleted 4 objects, and none was left"
    assert list(store.objects) == [("checkpoints", "fixed/y/metadata")]


def test_where_there_was_none_it_has_not_acted() -> None:
    assert not LoseCheckpoint().begin(of(FakeS3())).end().acted


def test_outside_an_arm_there_is_none() -> None:
    with pytest.raises(StackError, match="no arm"):
        LoseCheckpoint().begin(context())
