"""What is noted of runs on stacks of somebody else's; that topics and objects go is in the integration tests."""

from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest

from devkit.errors import StackError
from devkit.guardian.run_state import RunState, lease_path, lease_paths
from devkit.stack import external_lease
from devkit.stack.addresses import Addresses
from devkit.stack.external_lease import ExternalLease, lapsed, release_ended, release_lapsed
from devkit.stack.stack import BUCKETS
from tests.unit.devkit.observe.fake_s3 import FakeS3

PLACE = {"kafka": "k:9092", "s3_endpoint": "http://s3", "mock_api": "http://m"}


class Theirs:
    """Somebody else's stack."""

    def __init__(self) -> None:
        self.topics = {"in", "precious"}
        self.silent = False
        self.store = FakeS3()
        for bucket in BUCKETS:
            for key in ("cafe0001/a", "cafe0001/b/c", "cafe0001/d", "cafe0002/a", "theirs"):
                self.store.put(bucket, key, b"x")

    @property
    def objects(self) -> set[str]:
        return {key for _bucket, key in self.store.objects}

    def remove(self, _bootstrap: str, topics: Iterable[str]) -> None:
        self.topics -= set(topics)

    def there(self, _bootstrap: str, topics: Iterable[str]) -> tuple[str, ...]:
        if self.silent:
            raise StackError("Kafka at k:9092 does not answer")
        return tuple(sorted(self.topics & set(topics)))

    def client(self, endpoint: str, **_keys: str) -> FakeS3:
        return self.store


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Theirs:
    fake = Theirs()
    monkeypatch.setattr(external_lease, "remove_topics", fake.remove)
    monkeypatch.setattr(external_lease, "existing_topics", fake.there)
    monkeypatch.setattr(external_lease, "s3_client", fake.client)
    return fake


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


Came = Callable[..., ExternalLease]


@pytest.fixture
def came() -> Came:
    """A run comes, and is gone by now unless it is `alive`."""

    def come(run_id: str, *topics: str, alive: bool = False) -> ExternalLease:
        lease = ExternalLease(
            run_id=run_id, addresses=Addresses.model_validate(PLACE | {"secret_key": "hush"}), topics=topics
        )
        lease.write()
        if alive:
            me = psutil.Process()
            guardian = {"guardian_pid": me.pid, "guardian_started": me.create_time()}
            RunState.model_validate({"run_id": run_id, "directory": "/nowhere"} | guardian).save()
        return lease

    return come


def test_a_run_that_is_alive_is_left_alone(theirs: Theirs, came: Came) -> None:
    came("cafe0001", "in", alive=True)
    assert (release_lapsed(), release_ended("cafe0001")) == ([], [])
    assert "cafe0001/a" in theirs.objects


def test_credentials_come_from_the_environment_and_no_secret_is_written_down(came: Came) -> None:
    came("cafe0001", "in")
    assert "hush" not in lease_path("cafe0001").read_text()
    (lease,) = lapsed({"DEVKIT_S3_ACCESS_KEY": "me", "DEVKIT_S3_SECRET_KEY": "hush"})
    assert (lease.run_id, lease.addresses.access_key, lease.addresses.secret_key) == ("cafe0001", "me", "hush")


def test_a_run_that_leaves_takes_its_topics_and_its_note_along(theirs: Theirs, came: Came) -> None:
    came("cafe0001", "in", "out").release()
    assert (theirs.topics, theirs.objects, lease_paths()) == ({"precious"}, {"cafe0002/a", "theirs"}, [])


def test_a_run_that_is_gone_has_its_topics_named_and_not_removed(theirs: Theirs, came: Came) -> None:
    """Somebody may have begun to use them."""
    lease = came("cafe0001", "in", "out")
    assert [(released.lease.run_id, released.remaining, released.why) for released in release_lapsed()] == [
        (lease.run_id, ("in",), "")
    ]
    assert theirs.topics == {"in", "precious"}
    assert theirs.objects == {"cafe0002/a", "theirs"}
    assert lapsed() == []


def test_one_that_is_ended_from_outside_leaves_by_itself(theirs: Theirs, came: Came) -> None:
    came("cafe0001", "in")
    came("cafe0002", "precious")
    assert [released.lease.run_id for released in release_ended("cafe0001")] == ["cafe0001"]
    assert theirs.topics == {"precious"}
    assert [lease.run_id for lease in lapsed()] == ["cafe0002"]


def test_what_cannot_be_tidied_is_tried_again(theirs: Theirs, came: Came) -> None:
    came("cafe0001", "in")
    theirs.silent = True
    assert [released.why for released in release_lapsed()] == ["Kafka at k:9092 does not answer"]
    theirs.silent = False
    assert [released.why for released in release_lapsed()] == [""]
    assert release_lapsed() == []


def test_what_a_run_cannot_remove_is_named_and_stays_noted(
    theirs: Theirs, came: Came, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_bootstrap: str, _topics: Iterable[str]) -> None:
        raise StackError("topics at k:9092 could not be removed: not allowed")

    monkeypatch.setattr(external_lease, "remove_topics", refuse)
    with pytest.raises(StackError, match=r"not everything of the run could be removed.*not allowed") as caught:
        came("cafe0001", "in").release()
    assert "topics in, or objects below cafe0001/" in (caught.value.hint or "")
    assert [lease.run_id for lease in lapsed()] == ["cafe0001"]


def test_a_store_that_does_not_answer_is_named(theirs: Theirs, came: Came) -> None:
    came("cafe0001", "in")
    theirs.store.broken = True
    (tidied,) = release_lapsed()
    assert tidied.why.startswith("the object store at http://s3: ")
    assert len(lapsed()) == 1


def test_a_damaged_note_is_nobodys(theirs: Theirs, came: Came) -> None:
    came("cafe0001")
    lease_path("cafe0001").write_text("{")
    assert lapsed() == []


def test_a_run_that_leaves_empties_the_triple_store_that_it_used(
    theirs: Theirs, came: Came, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared: list[str] = []
    monkeypatch.setattr(external_lease.TripleStore, "clear", lambda store: cleared.append(store.direct_update))
    came("cafe0001", "in").release()
    assert cleared == []
    came("cafe0001", "in").model_copy(update={"cleared": "http://t/update"}).release()
    assert cleared == ["http://t/update"]
