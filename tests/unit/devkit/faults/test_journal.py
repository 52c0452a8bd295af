import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from devkit.errors import UsageError
from devkit.faults.claims import clashes, part_claims, topic_claims
from devkit.faults.do import parse_do
from devkit.faults.fault import Undo
from devkit.faults.journal import Journal, Page, journals
from devkit.guardian import lease
from tests.unit.devkit.faults.fakes import Clock, Noted


def test_a_page_is_there_before_the_fault_begins_and_says_what_is_to_be_undone() -> None:
    page = Journal("run1").open("x", Noted(part="store"), lasts_s=5)
    page.plan(Undo(data={"setting": "old"}, outlives_run=True))
    page.plan(Undo(irreversible="2 partitions were added"))
    ((page,),) = [journal.pages() for journal in journals()]
    assert (page.entry.run_id, page.entry.name, page.entry.fault) == ("run1", "x", "noted")
    assert page.entry.asked == "noted: {part: store}"
    assert page.entry.lasts_s == 5
    assert page.entry.plans == (
        Undo(data={"setting": "old"}, outlives_run=True),
        Undo(irreversible="2 partitions were added"),
    )
    assert page.entry.irreversible == ("2 partitions were added",)


def test_what_a_fault_claims_is_refused_to_others_until_it_is_undone() -> None:
    journal = Journal("run1")
    one, two = journal.open("one", Noted()), journal.open("two", Noted())
    journal.claim(one, frozenset({"a", "b"}))
    with pytest.raises(UsageError, match=r"fault 'one' \(noted: {}\), of the scenario's timeline, acts on b until"):
        journal.claim(two, frozenset({"b", "c"}))
    journal.claim(two, frozenset({"c"}))
    one.close()
    journal.claim(two, frozenset({"b", "c"}))


def test_what_is_claimed_of_a_cluster_is_refused_to_other_runs_that_use_it() -> None:
    quota = frozenset({"producer_byte_rate of each client"})
    one, two = Journal("run1"), Journal("run2")
    first = one.open("slow", Noted(), lasts_s=100)
    one.claim(first, quota, "cluster-a")
    second = two.open("slow", Noted())
    message = (
        r"fault 'slow' \(noted: {}\) of run run1 acts on producer_byte_rate of each client of the same Kafka cluster"
    )
    with pytest.raises(UsageError, match=message):
        two.claim(second, quota, "cluster-a")
    two.claim(second, quota, "cluster-b")
    two.claim(second, frozenset({"consumer_byte_rate of each client"}), "cluster-a")
    first.close()
    two.claim(second, quota, "cluster-a")


def test_a_part_is_of_its_own_run_alone() -> None:
    one, two = Journal("run1"), Journal("run2")
    one.claim(one.open("x", Noted()), part_claims("kafka"), "cluster-a")
    two.claim(two.open("x", Noted()), part_claims("kafka"), "cluster-a")


def test_who_is_refused_hears_how_long_the_other_goes_on() -> None:
    journal, now = Journal("run1"), datetime.now(UTC)
    entries = {
        journal.open("x", Noted(), holder=holder, lasts_s=lasts_s)
        .entry.model_copy(update={"began": now})
        .remaining(now + timedelta(seconds=2))
        for holder, lasts_s in [(None, None), (1, None), (1, 10.0), (1, 2.5), (1, 0.0)]
    }
    assert entries == {"until the arm ends", "until it is removed", "for another 8 s", "and ends now"}


def test_pages_come_in_the_order_of_their_faults_and_what_is_undone_leaves_nothing() -> None:
    journal = Journal("run1")
    names = [str(number) for number in range(5)]
    pages = [journal.open(name, Noted()) for name in names]
    for number, page in enumerate(pages):
        assert [page.entry.name for page in journal.pages()] == names[number:]
        page.close()
        page.close()
    assert journals() == ()


def test_a_page_that_cannot_be_read_is_left_out_and_told_apart() -> None:
    journal = Journal("run1")
    path = journal.open("x", Noted()).path
    path.write_text("{")
    assert journal.pages() == ()
    assert journal.unreadable() == (path,)


def age(page: Page) -> None:
    """As if it had not been renewed for longer than a lease lasts."""
    long_ago = time.time() - lease.LEASE.total_seconds() - 1
    os.utime(page.path, (long_ago, long_ago))


def test_a_lease_lapses_unless_it_is_renewed_or_the_fault_undone() -> None:
    page = Journal("run1").open("x", Noted())
    assert not lease.has_lapsed(page.path)
    age(page)
    assert lease.has_lapsed(page.path)
    page.renew()
    assert not lease.has_lapsed(page.path)
    page.close()
    assert not lease.has_lapsed(page.path)
    with pytest.raises(FileNotFoundError):
        page.renew()


def test_a_lease_has_lapsed_for_good_when_who_lives_would_have_renewed_it() -> None:
    page, clock = Journal("run1").open("x", Noted()), Clock()
    watch = lease.LeaseWatch("run1", clock)
    age(page)
    looks = {}
    for clock.now in (0, 0.001, 2.5, 4, 5, 8):
        if clock.now == 4:
            page.renew()
        if clock.now == 5:
            age(page)
        looks[clock.now] = watch.look()
    assert looks == {0: False, 0.001: False, 2.5: False, 4: False, 5: False, 8: True}


@pytest.mark.parametrize(
    ("claims", "other", "both"),
    [
        (part_claims("kafka"), part_claims("kafka"), ["part kafka"]),
        (part_claims("kafka"), part_claims("kafka-1"), []),
        (topic_claims("out"), topic_claims("out", "a", "b"), ["topic out: a", "topic out: b"]),
        (topic_claims("out", "a", "b"), topic_claims("out", "b", "c"), ["topic out: b"]),
        (topic_claims("out"), topic_claims("output", "a"), []),
        (topic_claims("out", "partition 1"), topic_claims("out", "partition 10"), []),
        (frozenset(), topic_claims("out"), []),
    ],
)
def test_a_thing_clashes_with_itself_and_its_pieces(
    claims: frozenset[str], other: frozenset[str], both: list[str]
) -> None:
    assert (clashes(claims, other), clashes(other, claims)) == (both, both)


MOVES = {"reassign": {"topic": "output", "to": [2]}}
MAKES_AGAIN = {"recreate_topic": {"topic": "output"}}


@pytest.mark.parametrize(
    ("do", "other", "both"),
    [
        (MOVES, {"move_leader": {"topic": "out"}}, ["topic out: partition 0"]),
        (MOVES, {"move_leader": {"topic": "output", "partition": 1}}, []),
        (MOVES, {"reassign": {"topic": "error", "to": [2]}}, ["the brokers' replication throttle"]),
        (MAKES_AGAIN, {"move_leader": {"topic": "out"}}, ["topic out: partition 0"]),
        ({"add_partitions": {"topic": "out", "partitions": 5}}, MAKES_AGAIN, ["topic out: number of partitions"]),
        (
            MOVES,
            {"topic_settings": {"topic": "out", "settings": {"leader.replication.throttled.replicas": "*"}}},
            ["topic out: leader.replication.throttled.replicas"],
        ),
    ],
)
def test_faults_of_the_broker_know_the_same_thing_by_role_and_by_name(
    do: dict[str, object], other: dict[str, object], both: list[str]
) -> None:
    topics = {"output": "out", "error": "err"}
    assert clashes(parse_do(do).claims(topics), parse_do(other).claims(topics)) == both
