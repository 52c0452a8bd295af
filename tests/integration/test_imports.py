"""What a Python process has loaded that has just started, and from where."""

import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from devkit.stack.compose_file import REPOSITORY

ROOMS = ("devkit/cli", "devkit/programs", "pipeline/driver")

PACKAGE = REPOSITORY / "deploy" / "spark" / "package.py"
# Far beyond what it takes on a busy machine.
HANG_S = 300


def test_devkit_starts_without_what_only_a_run_needs() -> None:
    """Help and checks answer at once: Spark, Kafka and boto3 are imported when they are needed."""
    program = (
        "import sys, devkit.cli.main; "
        "print([name for name in ('pyspark', 'kafka', 'boto3', 'pandas', 'moto') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_a_refusal_needs_neither_spark_nor_arrow(tmp_path: Path) -> None:
    """A person who mistyped a key should not wait for a JVM."""
    program = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from pipeline.__main__ import main\n"
        "result = CliRunner().invoke(main, ['run', 'html-enrichment', '--config', sys.argv[1]])\n"
        "print(result.exit_code, *(name for name in ('pyspark', 'pyarrow', 'aiohttp') if name in sys.modules))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "missing.yaml")], capture_output=True, text=True, check=True
    )
    assert out.stdout == "2\n"


def test_a_job_that_starts_loads_no_operations() -> None:
    program = "import sys, pipeline.__main__\nprint([name for name in ('kafka', 'boto3') if name in sys.modules])\n"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_workers_load_what_tasks_need() -> None:
    """In a process that has loaded nothing. Each row is read, else Spark would end the worker."""
    rows = "import sys; from pipeline.worker.daemon import load; rows = iter([1, 2]); load(rows); print(list(rows), "
    shown = rows + "[name in sys.modules for name in ('pipeline.worker.spark_task', 'pyspark.worker')])"
    run = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True, timeout=HANG_S)
    assert run.stdout.strip() == "[] [True, True]"


# Without Java: its start and the builder's last step are replaced, and the importing thread is one that looks instead.
_LOOKING = """
import sys, threading
from pipeline.driver import session

found = []

class Looks:
    def __init__(self, **_):
        found.append([name for name in ("pyspark.sql", "pyspark.sql.streaming", "pyspark.sql.dataframe")
                      if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", True)])
    def start(self):
        from pyspark.sql import SparkSession
        from pyspark import SparkContext
        SparkSession.Builder.getOrCreate = lambda _self: None
        SparkContext._ensure_initialized = lambda **_: None
        SparkContext.getOrCreate = lambda *_: None

threading.Thread = Looks
session.start_session("job", meanwhile=("pipeline.driver.batch",))
print(found)
"""


def test_pyspark_is_imported_whole_before_another_thread_imports_what_needs_it() -> None:
    run = subprocess.run([sys.executable, "-c", _LOOKING], capture_output=True, text=True, check=False, timeout=HANG_S)
    assert (run.returncode, run.stdout.strip()) == (0, "[[]]"), run.stderr


def test_what_fetches_the_jars_for_the_image_can_be_imported_there(tmp_path: Path) -> None:
    """Only these files of the kit are in that stage; the rest of it stays out, so that a change builds nothing anew."""
    stage = (REPOSITORY / "Dockerfile").read_text().partition(" AS java\n")[2].partition("FROM")[0]
    copied = [line.split()[1:] for line in stage.splitlines() if line.startswith("COPY devkit")]
    for *sources, target in copied:
        for source in sources:
            if (REPOSITORY / source).is_dir():
                shutil.copytree(REPOSITORY / source, tmp_path / target)
            else:
                (tmp_path / target).mkdir(exist_ok=True)
                shutil.copy(REPOSITORY / source, tmp_path / target)
    process = subprocess.run(
        [sys.executable, "-c", "import devkit; from devkit.jvm import jars, runtime; print(devkit.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.stdout.strip(), process.stderr) == (str(tmp_path / "devkit" / "__init__.py"), "")


def test_the_job_can_be_imported_from_its_archive(tmp_path: Path) -> None:
    """Its schemas are read from there too."""
    packing = runpy.run_path(str(PACKAGE))
    write, job = packing["_write"], packing["_job"]
    archive = tmp_path / "pipeline.zip"
    write(archive, job())
    with zipfile.ZipFile(archive) as written:
        assert not [name for name in written.namelist() if "__pycache__" in name]
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import pipeline.worker.spark_task, located_config;"
        "print(pipeline.worker.spark_task.__file__); print(located_config.__file__);"
        "from pipeline import schemas; schemas.page_change_validator(); schemas.error_validator()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"{archive}/pipeline/worker/spark_task.py",
        f"{archive}/located_config/__init__.py",
    ]
