"""`python -m benchmarks NAME …`: a bench of the engine or of the kit by its name; all else goes to pytest-benchmark."""

import subprocess
import sys
from pathlib import Path

from benchmarks.engine.__main__ import main, run

_HELP = ("-h", "--help")
_PYTEST = ("-m", "pytest", "--benchmark-enable", "--benchmark-only")
_OF_THE_KIT = {
    path.stem.removeprefix("test_").replace("_", "-"): path for path in Path(__file__).parent.glob("test_*.py")
}

if __name__ == "__main__":
    if sys.argv[1:] and (sys.argv[1] in main.commands or sys.argv[1] in _HELP):
        run()
    name, *options = sys.argv[1:] or [""]
    selected = [str(_OF_THE_KIT[name]), *options] if name in _OF_THE_KIT else ["benchmarks", *sys.argv[1:]]
    # A process of its own: pytest wants to be the first to import what it rewrites.
    sys.exit(subprocess.run([sys.executable, *_PYTEST, *selected], check=False).returncode)
