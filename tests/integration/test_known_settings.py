"""The settings of Spark by which a scenario is checked are those that the locked Spark registers."""

import subprocess
import sys

ROOMS = ("devkit/programs",)
ASK = (
    "from devkit.programs.spark.known_settings import ask_spark, known_settings as k; print(sorted(ask_spark() ^ k()))"
)


def test_they_are_those_of_this_spark() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, timeout=240, check=False)
    again = "python -m devkit.programs.spark.known_settings writes them anew"
    assert done.stdout.splitlines()[-1:] == ["[]"], (again, done.stdout, done.stderr)
