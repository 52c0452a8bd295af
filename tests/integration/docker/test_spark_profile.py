"""`--profile spark`: the pipeline runs unchanged on a Spark master with two workers.

Set-up: all services, a mock that knows the pages of some traffic. Step: publish it. Checked: the delivery audit is
clean, and executors ran on both workers. Then `docker stop`: the driver ends with exit code 0 and has said that it was
stopped, as the profile has it, and from the same image as the container's first process, by Python and by spark-submit.
"""

import os
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest
import requests

from devkit.docker.access import RUN_LABEL
from devkit.observe.audit.arrivals import read_topic
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.claim_check import resolve_claim
from devkit.observe.checkpoint import of_topic
from devkit.programs.places import NOWHERE
from devkit.programs.program_truth import truth_of
from devkit.programs.spark.program import SPARK
from devkit.scenario.load import load_scenario
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.external import RemotePart
from devkit.stack.parts.mock_api import MockApi, await_answer
from devkit.stack.parts.object_store import credentials, s3_client
from devkit.stack.ports import free_port
from devkit.stack.topics import TopicEnds
from devkit.waiting import wait_until
from tests.integration.cli_run import REPOSITORY
from tests.integration.docker.conftest import Docker
from tests.integration.docker.engine import TestEngine

ROOMS = ("deploy", "pipeline/driver")
SOURCE, OUTPUT, ERRORS = (
    "mediawiki.page_change.v1",
    "mediawiki.page_html_content_change.v1",
    "mw_page_html_content_change_enrich.error",
)
PORTS = ("KAFKA_PORT", "KAFKA_KIT_PORT", "S3_PORT", "MOCK_PORT", "SPARK_UI_PORT", "SPARK_MASTER_PORT")
STARTING = timedelta(minutes=3)
STOP_S = 40
"""As the profile's `stop_grace_period`; longer than `stop_timeout`."""
RUN = ("run", "html-enrichment", "--config", "spark/pipeline.yaml")
FIRST_PROCESSES = {
    "python": ("python", "-m", "pipeline", *RUN),
    "spark-submit": ("spark-submit", "spark/submit.py", *RUN),
}
DELIVERY = timedelta(minutes=2)
PROJECT = "devkit-spark-profile"
PIPELINE = f"{PROJECT}-pipeline-1"


@pytest.fixture
def ports(docker_engine: TestEngine, docker: Docker) -> Iterator[dict[str, int]]:
    """The whole profile, up."""
    chosen = {name: free_port() for name in PORTS}
    environment = os.environ | {name: str(port) for name, port in chosen.items()} | {"DEVKIT_RUN_ID": PROJECT}
    command = ["docker", "compose", "--project-name", PROJECT, "--profile", "spark"]
    try:
        up = [*command, "up", "--detach", "--build"]
        subprocess.run(up, cwd=REPOSITORY, env=environment, check=True, timeout=900)
        yield chosen
    finally:
        logs = subprocess.run(
            [*command, "logs", "--no-color", "--tail", "40"], cwd=REPOSITORY, capture_output=True, text=True
        )
        print(logs.stdout[-20_000:])
        down = [*command, "down", "--volumes", "--timeout", "1"]
        subprocess.run(down, cwd=REPOSITORY, env=environment, check=True, timeout=120)
    assert docker("ps", "-aq", "--filter", f"label={RUN_LABEL}={PROJECT}") == ""


@pytest.mark.slow
def test_the_pipeline_runs_on_a_cluster_of_two_workers(ports: dict[str, int], docker: Docker) -> None:
    bootstrap = f"127.0.0.1:{ports['KAFKA_PORT']}"
    mock = MockApi(f"http://127.0.0.1:{ports['MOCK_PORT']}")
    await_answer(mock, RemotePart("mock-api", mock.endpoint).life)
    scenario = load_scenario(REPOSITORY / "scenarios" / "oversized-message.yaml")
    # Without the page that is the incident: the pipeline has its default configuration here.
    traffic = ScenarioTraffic(scenario.traffic.model_copy(update={"pages": {}}))
    mock.populate(seed=scenario.traffic.seed, catalog=traffic.catalog(), rules=[])
    ends = TopicEnds(bootstrap)
    wait_until(lambda: ends.of(OUTPUT), what="the topics to be made", deadline=STARTING)
    publisher = traffic.publisher(bootstrap, SOURCE, threading.Event())
    publisher.start()
    wait_until(lambda: publisher.done, what="the traffic to be published", deadline=DELIVERY)
    awaited = sum(entry.expected.fate != "filtered" for entry in publisher.manifest().entries)

    def delivered() -> bool:
        assert docker("inspect", "--format", "{{.State.Status}}", PIPELINE) == "running\n", docker(
            "logs", "--tail", "5", PIPELINE
        )
        return sum(ends.of(OUTPUT).values()) + sum(ends.of(ERRORS).values()) >= awaited

    what = f"{awaited} events to be delivered"
    wait_until(delivered, what=what, deadline=STARTING + DELIVERY, interval=timedelta(seconds=1))
    committed = of_topic(SOURCE, ends.of(SOURCE))
    ends.close()
    audit = DeliveryAudit(
        traffic.source_events(publisher),
        truth=truth_of(SPARK.configure(NOWHERE, {"sink": {"topic": OUTPUT}}), mock),
        resolve=partial(resolve_claim, s3_client(f"http://127.0.0.1:{ports['S3_PORT']}")),
    )
    for arrival in read_topic(bootstrap, OUTPUT):
        audit.add_output(arrival)
    for arrival in read_topic(bootstrap, ERRORS):
        audit.add_error(arrival)
    found = audit.finish(committed)
    assert found.inputs == traffic.count
    assert found.problems() == {}, found
    master = requests.get(f"http://127.0.0.1:{ports['SPARK_MASTER_PORT']}/json/", timeout=10).json()
    assert len(master["workers"]) == 2
    assert [worker["coresused"] for worker in master["workers"]] == [2, 2]
    assert_stops(docker, PIPELINE)
    for name, command in FIRST_PROCESSES.items():
        container = f"{PROJECT}-{name}"
        # Of what the profile gives its driver, all but `init`.
        store = [word for variable, value in credentials().items() for word in ("--env", f"{variable}={value}")]
        place = ("--network", f"{PROJECT}_default", "--hostname", container, "--label", f"{RUN_LABEL}={PROJECT}")
        begin = ("run", "--detach", "--name", container, "--stop-timeout", str(STOP_S), *place, *store)
        docker(*begin, "enrichment-devkit/spark", *command)
        try:
            assert_stops(docker, container)
        finally:
            print(docker("logs", "--tail", "30", container))
            docker("rm", "--force", container)


def assert_stops(docker: Docker, container: str) -> None:
    """`docker stop` while it runs; the engine would kill it when the time of the stop is over."""

    def started() -> bool:
        state = docker("inspect", "--format", "{{.State.Status}}", container)
        assert state == "running\n", docker("logs", "--tail", "30", container)
        return '"event": "started"' in docker("logs", container)

    wait_until(started, what=f"{container} to start", deadline=STARTING, interval=timedelta(seconds=1))
    docker("stop", container)
    assert '"event": "stopped"' in docker("logs", "--tail", "30", container)
    assert docker("inspect", "--format", "{{.State.ExitCode}} {{.State.OOMKilled}}", container) == "0 false\n"
