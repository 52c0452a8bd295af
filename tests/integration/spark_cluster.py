"""A Spark master and two workers as processes of this machine, in a directory of their own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyspark
import requests

from devkit.guardian import Guardian, ManagedProcess
from devkit.jvm import jars
from devkit.jvm.runtime import java_home
from devkit.stack.ports import LOOPBACK, free_port
from devkit.waiting import wait_until
from tests.integration.cli_run import REPOSITORY

SPARK_HOME = Path(pyspark.__file__).parent
STARTING = timedelta(minutes=3)


@dataclass(frozen=True)
class Cluster:
    """`nodes` are the workers' processes; executors and their Python workers are in their trees."""

    master: str
    ui: str
    nodes: Sequence[ManagedProcess]

    def settings(self) -> dict[str, str]:
        """With which executors on both workers find the job in this repository."""
        return {
            "spark.master": self.master,
            "spark.executor.cores": "2",
            "spark.cores.max": "4",
            "spark.executor.memory": "512m",
            "spark.executor.extraClassPath": ":".join(map(str, jars.ensure(jars.SPARK))),
            "spark.executorEnv.PYTHONPATH": str(REPOSITORY),
        }

    def at_work(self) -> ManagedProcess | None:
        """The first node on which Python runs."""
        for node in self.nodes:
            if any("pyspark.worker" in process.cmdline() for process in node.tree()):
                return node
        return None

    def workers(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = requests.get(f"{self.ui}/json/", timeout=30).json()["workers"]
        except requests.RequestException:  # its UI is up before it can answer
            return []
        return found


@contextmanager
def spark_cluster(guardian: Guardian, directory: Path) -> Iterator[Cluster]:
    """Its environment has nothing by which an executor would find the job."""
    port, ui_port = free_port(), free_port()
    work = directory / "nodes"
    work.mkdir()
    master, ui = f"spark://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{ui_port}"
    environment = {"JAVA_HOME": str(java_home()), "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": LOOPBACK}
    environment |= {"PYTHONPATH": "", "SPARK_DAEMON_MEMORY": "256m", "SPARK_CONF_DIR": str(work)}

    def start(name: str, role: str, *arguments: str) -> ManagedProcess:
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *arguments]
        argv = ["sh", "-c", 'cd "$0" && exec "$@"', str(work), *command]
        return guardian.spawn(name, argv, logs=directory / "logs", env=environment)

    started = [
        start("master", "master.Master", "--host", LOOPBACK, "--port", str(port), "--webui-port", str(ui_port)),
        *(
            start(
                f"worker-{number}",
                "worker.Worker",
                *("--host", LOOPBACK, "--cores", "2", "--memory", "1g", "--webui-port", str(free_port())),
                *("--work-dir", str(work / f"work-{number}"), master),
            )
            for number in (1, 2)
        ),
    ]
    made = Cluster(master, ui, started[1:])
    try:
        wait_until(lambda: len(made.workers()) == 2, what="two workers at the master", deadline=STARTING)
        yield made
    finally:
        for process in started:
            process.kill_tree()
