"""`python -m benchmarks NAME …`: a bench of the engine by its name; anything else goes to pytest-benchmark."""

import subprocess
import sys

from benchmarks.engine.__main__ import main, run

_HELP = ("-h", "--help")
_PYTEST = ("-m", "pytest", "benchmarks", "--benchmark-enable", "--benchmark-only")

if __name__ == "__main__":
    if sys.argv[1:] and (sys.argv[1] in main.commands or sys.argv[1] in _HELP):
        run()
    # A process of its own: pytest wants to be the first to import what it rewrites.
    sys.exit(subprocess.run([sys.executable, *_PYTEST, *sys.argv[1:]], check=False).returncode)
