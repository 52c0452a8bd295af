"""What the code and `docker-compose.yml` both say has to be the same."""

import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from devkit.docker.access import RUN_LABEL
from devkit.errors import UsageError
from devkit.programs.spark.place import IN_IMAGE
from devkit.stack.compose_file import (
    KAFKA,
    MINIO,
    OBJECT_STORE,
    PYTHON,
    REPOSITORY,
    SERVICES,
    SPARK,
    compose_path,
    kafka_image,
    read_compose,
)
from devkit.stack.container_stack import TRIPLE_STORE_VOLUME
from devkit.stack.parts.object_store import ACCESS_KEY, SECRET_KEY
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.stack import BUCKETS

GIB = 1024**3
TEXT = (REPOSITORY / "docker-compose.yml").read_text()
FILE = YAML(typ="safe").load(TEXT)


def test_the_images_are_those_that_are_pinned() -> None:
    file = read_compose(compose_path())
    assert file.pulled_images(SERVICES) == (kafka_image(), MINIO)
    assert file.services[KAFKA].image == file.services["topics"].image
    assert f"ARG PYTHON={PYTHON}\n" in (REPOSITORY / "Dockerfile").read_text()


def test_the_image_for_programs_has_what_the_kit_looks_for_in_it() -> None:
    assert read_compose(compose_path()).services[SPARK].image == FILE["services"]["pipeline"]["image"]
    assert FILE["services"][SPARK]["build"] == {"context": ".", "target": "spark"}
    stage = (REPOSITORY / "Dockerfile").read_text().partition(" AS spark\n")[2]
    # Links made there; of the jars' directory it is the pattern that matters.
    for place in (IN_IMAGE.java, IN_IMAGE.spark, IN_IMAGE.classpath.removesuffix("*")):
        assert place in stage


def test_the_limits_of_memory_add_up_and_each_service_has_a_health_check() -> None:
    assert read_compose(compose_path()).memory_bytes(SERVICES) == 3 * GIB
    assert all("healthcheck" in FILE["services"][name] for name in SERVICES)


@pytest.mark.parametrize("name", FILE["services"])
def test_each_service_is_labelled_and_limited(name: str) -> None:
    service = FILE["services"][name]
    assert service["labels"] == {RUN_LABEL: "${DEVKIT_RUN_ID:-by-hand}"}
    assert service["mem_limit"]


@pytest.mark.parametrize("kind", ["volumes", "networks"])
def test_volumes_and_networks_are_labelled(kind: str) -> None:
    assert FILE[kind]
    assert all(RUN_LABEL in entry["labels"] for entry in FILE[kind].values())


def test_everything_is_published_on_loopback_only() -> None:
    ports = [port for service in FILE["services"].values() for port in service.get("ports", ())]
    assert len(ports) >= 5
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_every_gap_of_the_brokers_template_is_filled() -> None:
    template = (REPOSITORY / "devkit/stack/parts/server.properties").read_text()
    command = FILE["services"][KAFKA]["command"][-1]
    gaps = {word.split("}")[0] for word in template.split("${")[1:]}
    assert gaps
    assert {gap for gap in gaps if f"$${{{gap}}}" not in command} == set()


def test_credentials_and_buckets_are_those_of_the_kit() -> None:
    minio = FILE["services"][OBJECT_STORE]
    assert minio["environment"] == {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY}
    assert all(f"/data/{bucket}" in minio["command"][0] for bucket in BUCKETS)


def test_an_installed_kit_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the compose stack is made from it") as caught:
        compose_path(tmp_path)
    assert "from a checkout" in (caught.value.hint or "")


def test_the_triple_store_is_started_only_where_it_is_asked_for() -> None:
    service = FILE["services"][TRIPLE_STORE]
    assert service["profiles"] == [TRIPLE_STORE]
    assert TRIPLE_STORE not in SERVICES
    assert service["volumes"] == [f"triple-store-data:{TRIPLE_STORE_VOLUME}"]
    stage = (REPOSITORY / "Dockerfile").read_text().partition(" AS triple-store\n")[2].partition("FROM")[0]
    assert f'"{TRIPLE_STORE_VOLUME}/data"' in stage


@pytest.mark.starts_process("a line of the Dockerfile is run by sh")
def test_the_image_of_the_triple_store_takes_its_wheel_from_the_lock() -> None:
    stage = (REPOSITORY / "Dockerfile").read_text().partition(" AS triple-store\n")[2].partition("FROM")[0]
    (script,) = re.findall(r"RUN (sed -n '.*' \S+)", stage)
    lines = subprocess.run(["sh", "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"oxigraph==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", lines)
