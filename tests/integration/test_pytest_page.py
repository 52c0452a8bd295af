"""docs/pytest.md: its example is a suite that passes outside the checkout, without a warning or a log line.

A suite with each part passes in the environment of a user who has set up AWS, Kafka, Spark, Java, proxies, certificates
and temporary files for other work, and whose home directory cannot be written.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from devkit.jvm.cache import CACHE_VARIABLE, cache_dir

ROOMS = ("docs", "devkit/pytest")
PLUGIN = "devkit.pytest"
PAGE = Path(__file__).parents[2] / "docs" / "pytest.md"
DEADLINE_S = 300
OTHER_WORK = {
    "AWS_PROFILE": "nobody",
    "AWS_CA_BUNDLE": "/nowhere.pem",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "KAFKA_OPTS": "-Xnone",
    "KAFKA_HEAP_OPTS": "-Xmx1k",
    "SPARK_HOME": "/nowhere",
    "SPARK_CONF_DIR": "/nowhere",
    "JAVA_HOME": "/nowhere",
    "JAVA_TOOL_OPTIONS": "-Xnone",
    "_JAVA_OPTIONS": "-Xnone",
    "http_proxy": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "socks5://127.0.0.1:9",
    "SSL_CERT_FILE": "/nowhere.pem",
    "REQUESTS_CA_BUNDLE": "/nowhere.pem",
}
PARTS = """
def test_kafka(kafka):
    topic = kafka.topic(partitions=2)
    kafka.produce(topic, ["a", {"b": 1}, None], key="k")
    assert [record.value for record in kafka.consume(topic)] == [b"a", b'{"b": 1}', None]

def test_mock(mock_api):
    with mock_api.rules({"name": "busy", "do": {"status": 503}, "times": 1}):
        pass

def test_store(object_store):
    client = object_store.client()
    client.put_object(Bucket="checkpoints", Key="x", Body=b"1")
    assert client.get_object(Bucket="checkpoints", Key="x")["Body"].read() == b"1"
"""


def test_the_example_passes_in_an_empty_directory(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (settings,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert PLUGIN in settings
    (tmp_path / "test_fetch.py").write_text(example)
    (tmp_path / "pyproject.toml").write_text(settings)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:faker"]
    command += ["-rA", "--log-level=DEBUG"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^1 passed in [\d.]+s", done.stdout, re.MULTILINE), done.stdout
    assert "Captured log" not in done.stdout, "faker's own plugin logs, and is left out; nothing else does"


def test_the_parts_work_where_the_environment_is_set_up_for_other_work(tmp_path: Path) -> None:
    (tmp_path / "test_parts.py").write_text(PARTS)
    no_directory, temporary = tmp_path / "home", tmp_path / ("x" * 120)
    no_directory.write_text("cannot be written into")
    temporary.mkdir()
    places = {"HOME": no_directory, "TMPDIR": temporary, "PYTHONPATH": tmp_path, CACHE_VARIABLE: cache_dir()}
    environment = os.environ | OTHER_WORK | {name: str(place) for name, place in places.items()}
    command = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider", "test_parts.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(temporary.glob("devkit-*")) == []
