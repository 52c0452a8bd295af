"""Faults by the broker's own interface on a cluster of another owner, which has no levers and outlives the run.

Set-up: an embedded stack with three brokers, started by the test, is given to `devkit up --stack external`. Checked on
the brokers: what the fault does, that its end takes it back, also after SIGKILL of its holder and guardian. What needs
a lever is refused with its name.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from kafka import KafkaProducer

from devkit.faults.journal import Journal
from devkit.faults.kafka.cluster import Cluster, becomes_true, cluster
from devkit.guardian import Guardian
from devkit.guardian.run_state import known_runs
from devkit.stack.embedded import start_embedded
from devkit.stack.stack import Stack, StackRequest
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from tests.integration.cli_run import devkit

ROOMS = ("devkit/faults", "devkit/guardian", "devkit/stack")
pytestmark = pytest.mark.slow  # three brokers
DEADLINE = timedelta(seconds=60)
LED, HELD = "theirs.led", "theirs.held"
RATE = "leader.replication.throttled.rate"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The parts of the other owner: a topic on three brokers, and one on one, with much in it."""
    with Guardian() as guardian:
        stack = start_embedded(guardian, tmp_path_factory.mktemp("owner"), StackRequest(brokers=3))
        recreate_topics(stack.kafka.bootstrap, {LED: (1, {})})
        with cluster(stack.kafka.bootstrap) as kafka:
            kafka.admin.create_topics({HELD: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap)) as producer:
            for _ in range(20):
                producer.send(HELD, b"x" * 900_000).get(DEADLINE.total_seconds())
        yield stack


@pytest.fixture
def kafka(owner: Stack) -> Iterator[Cluster]:
    with cluster(owner.kafka.bootstrap) as found:
        yield found


@pytest.fixture(scope="module")
def addresses(owner: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = tmp_path_factory.mktemp("external") / "addresses.yaml"
    file.write_text(
        f"kafka: {owner.kafka.bootstrap}\n"
        f"s3_endpoint: {owner.object_store.endpoint}\n"
        f"mock_api: {owner.mock_api.endpoint}\n"
    )
    with pytest.MonkeyPatch.context() as patched:  # what is noted of leases is of these runs alone
        patched.setenv("DEVKIT_CACHE", str(file.parent / "cache"))
        patched.delenv("DEVKIT_STATE", raising=False)
        yield file


@pytest.fixture
def run_id(addresses: Path, tmp_path: Path) -> Iterator[str]:
    options = ["--stack", "external", "--addresses", str(addresses), "--brokers", "3"]
    up = devkit("up", "--no-pipeline", *options, "--out", str(tmp_path))
    assert up.returncode == 0, up.stderr
    (state,) = (run for run in known_runs() if run.run_id in up.stdout + up.stderr)
    yield state.run_id
    down(state.run_id)


def down(run_id: str) -> None:
    ended = devkit("down", "--run-id", run_id)
    assert ended.returncode == 0, ended.stderr


def added(run_id: str, do: str, name: str) -> None:
    done = devkit("fault", "add", "--run-id", run_id, "--do", do, "--name", name)
    assert done.returncode == 0, done.stderr


def test_a_leader_moves_there_and_back(run_id: str, kafka: Cluster) -> None:
    before = kafka.partition(LED, 0).leader
    added(run_id, f"{{move_leader: {{topic: {LED}}}}}", "led")
    assert becomes_true(lambda: kafka.partition(LED, 0).leader != before)
    other = devkit("fault", "add", "--run-id", run_id, "--do", f"{{reassign: {{topic: {LED}, to: [1]}}}}")
    assert other.returncode == 2
    assert f"fault 'led' (move_leader: {{topic: {LED}}}) acts on topic {LED}: partition 0 until it" in other.stderr
    removed = devkit("fault", "remove", "led", "--run-id", run_id)
    assert removed.returncode == 0, removed.stderr
    assert becomes_true(lambda: kafka.partition(LED, 0).leader == before)


def test_a_move_is_cancelled_when_its_holder_and_the_guardian_were_killed(run_id: str, kafka: Cluster) -> None:
    (home,) = kafka.partition(HELD, 0).replicas
    target = next(broker for broker in kafka.brokers() if broker != home)
    kafka.alter_broker(home, {RATE: "777777"})
    added(run_id, f"{{reassign: {{topic: {HELD}, to: [{target}], throttle: 1000}}}}", "moved")
    assert kafka.is_moving(HELD, 0)
    assert becomes_true(lambda: kafka.broker_settings(home).get(RATE) == "1000")
    (page,) = Journal(run_id).pages()
    (state,) = (run for run in known_runs() if run.run_id == run_id)
    for pid in (page.entry.holder, state.guardian_pid):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not state.guardian_is_alive(), what="the guardian to be gone", deadline=DEADLINE)
    assert kafka.is_moving(HELD, 0)
    healed = devkit("heal")
    assert f"undone fault moved of run {run_id}" in healed.stdout, healed.stderr
    assert not kafka.is_moving(HELD, 0)
    assert becomes_true(lambda: kafka.partition(HELD, 0).replicas == (home,))
    assert becomes_true(lambda: kafka.broker_settings(home) == {RATE: "777777"})


def test_two_runs_do_not_change_the_same_quota(run_id: str, addresses: Path, tmp_path: Path) -> None:
    """Each would put back what it found, so the second would leave the first one's behind."""
    added(run_id, "{client_quota: {produce: 100MiB}}", "slow")
    options = ["--stack", "external", "--addresses", str(addresses), "--brokers", "3"]
    up = devkit("up", "--no-pipeline", *options, "--out", str(tmp_path / "second"))
    assert up.returncode == 0, up.stderr
    (second,) = (run.run_id for run in known_runs() if run.run_id in up.stdout + up.stderr)
    try:
        quota = "{client_quota: {produce: 50MiB}}"
        refused = devkit("fault", "add", "--run-id", second, "--do", quota)
        assert refused.returncode == 3
        assert f"of run {run_id} acts on producer_byte_rate of each client" in " ".join(refused.stderr.split())
        devkit("fault", "remove", "slow", "--run-id", run_id)
        added(second, quota, "slow")
    finally:
        down(second)


@pytest.mark.parametrize("do", ["{kill: {part: kafka}}", "{pause: {part: kafka}}", "{restart: {part: object-store}}"])
def test_what_needs_a_lever_is_refused(run_id: str, owner: Stack, do: str) -> None:
    done = devkit("fault", "add", "--run-id", run_id, "--do", do)
    assert (done.returncode, "it is not ours to stop" in done.stderr) == (2, True), done.stderr
    owner.require_running()
    assert Journal(run_id).pages() == ()


SCENARIO = """
name: held
title: A timeline that needs a lever
incident: {{ reference: none }}
traffic: {{ seed: 5, rate: 20/s, for: 5s, pages: {{ Seen: {{ edits: 1 }} }} }}
kafka: {{ brokers: 3, topics: {{ source: {{ partitions: 1 }}, output: {{ partitions: 1 }} }} }}
timeline: [{{ name: still, do: {do}, at: 1s }}]
until: {{ any: [{{ drained: true }}], deadline: 60s }}
arms: {{ incident: {{ deferral: {{ policy: none }} }}, fixed: {{}} }}
expect: {{ incident: [{{ drained: true }}], fixed: [{{ drained: true }}] }}
"""


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("{ pause: { part: kafka-1 } }", "fault 'still' (pause: {part: kafka-1}) cannot be:"),
        ("{ network_cut: { part: kafka-1 } }", "the kit cannot put a proxy before kafka-1 of an external stack"),
    ],
)
def test_a_scenario_with_a_lever_is_refused_before_anything_of_it_starts(
    addresses: Path, kafka: Cluster, tmp_path: Path, do: str, message: str
) -> None:
    before, file = set(kafka.topics()), tmp_path / "held.yaml"
    file.write_text(SCENARIO.format(do=do))
    done = devkit("scenario", "run", str(file), "--stack", "external", "--addresses", str(addresses), "--stretch", "1")
    assert (done.returncode, message in done.stdout + done.stderr) == (2, True), done.stdout + done.stderr
    assert {topic for topic in kafka.topics() if not topic.startswith("devkit.probe.")} == before
