"""The texts are what docker, Compose and the engines printed."""

import pytest

from devkit.docker.causes import CAUSES, EngineError, ImageError, PortError, explain
from devkit.errors import StackError

ENGINE = [
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "Cannot connect to the Docker daemon at tcp://127.0.0.1:1. Is the docker daemon running?",
    "error during connect: this error may indicate that the docker daemon is not running: Get "
    '"http://%2F%2F.%2Fpipe%2Fdocker_engine/v1.24/info": open //./pipe/docker_engine: The system cannot find the file',
    "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "
    '"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/info": dial unix /var/run/docker.sock: connect: permission denied',
    "failed to connect to the docker API at unix:///run/docker.sock; check if the path is correct: "
    "dial unix /run/docker.sock: connect: no such file or directory",
    "docker: unknown command: docker compose\n\nRun 'docker --help' for more information",
    "docker: 'compose' is not a docker command.\nSee 'docker --help'",
    "unknown shorthand flag: 'f' in -f\n\nUsage:  docker [OPTIONS] COMMAND [ARG...]\n\nRun 'docker --help' for more",
]
PORT = [
    "Error response from daemon: driver failed programming external connectivity on endpoint devkit-1-kafka-1 (ab): "
    "Error starting userland proxy: listen tcp4 127.0.0.1:31092: bind: address already in use",
    "Error response from daemon: driver failed programming external connectivity on endpoint x (ab): "
    "Bind for 127.0.0.1:31092 failed: port is already allocated",
    "Error response from daemon: Ports are not available: exposing port TCP 127.0.0.1:9092 -> 0.0.0.0:0: listen tcp",
]
IMAGE = [
    'Error response from daemon: Get "https://registry.example/v2/": dial tcp: lookup registry.example on 10.0.0.1:53: '
    "no such host",
    "Error response from daemon: pull access denied for apache/kafka, repository does not exist or may require 'docker "
    "login': denied: requested access to the resource is denied",
    "Error response from daemon: manifest for apache/kafka:0.0.0 not found: manifest unknown: manifest unknown",
    'failed to solve: python:3.11-slim: failed to resolve source metadata for "docker.io/library/python:3.11-slim": '
    "dial tcp: lookup registry.example: i/o timeout",
    "Error response from daemon: No such image: apache/kafka:4.3.1",
    "toomanyrequests: You have reached your pull rate limit.",
]


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        *((EngineError, text) for text in ENGINE),
        *((PortError, text) for text in PORT),
        *((ImageError, text) for text in IMAGE),
    ],
)
def test_what_is_printed_has_a_cause_and_a_remedy(error: type[StackError], printed: str) -> None:
    explained = explain("starting the containers", printed)
    assert type(explained) is error
    assert str(explained).startswith("starting the containers: ")
    assert explained.hint
    assert explained.exit_code == 3


def test_the_line_that_tells_is_kept() -> None:
    printed = f" Container x  Starting\n{PORT[0]}\n"
    assert "127.0.0.1:31092: bind: address already in use" in str(explain("starting", printed))


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("write /var/lib/docker/tmp/x: no space left on device", "Docker's disk is full"),
        ("Error response from daemon: range of CPUs is from 0.01 to 1.00, as there are only 1 CPUs", "fewer CPUs"),
    ],
)
def test_other_causes(printed: str, words: str) -> None:
    explained = explain("starting", printed)
    assert words in str(explained)
    assert explained.hint


@pytest.mark.parametrize("printed", ["", "\n \n", "something new"])
def test_an_unknown_text_is_passed_on(printed: str) -> None:
    explained = explain("starting", printed)
    assert str(explained) == f"starting: {printed.strip() or 'it printed nothing'}"
    assert explained.hint is None


def test_each_cause_is_met_by_one_of_these_texts() -> None:
    texts = [*ENGINE, *PORT, *IMAGE, "no space left on device", "range of CPUs is from 0.01 to 1.00"]
    assert [cause.message for cause in CAUSES if not any(cause.pattern.search(text) for text in texts)] == []
