"""The recipes of the justfile: what `./justw` can do."""

import json
import subprocess
from pathlib import Path
from shutil import which

from docs.generate.markdown import code, page, table

_JUSTFILE = Path(__file__).parents[2] / "justfile"
_INTRODUCTION = """\
`./justw RECIPE` needs Python and nothing else: the first time it makes an environment in `.venv`, with what the locks
say. The first recipe from `test` on adds the packages that only developers need. `./justw` alone lists the recipes.
`./justw --setup` sets up for all recipes and runs nothing, `./justw --setup scenario` sets up for users. A recipe
passes on the arguments that follow it, so `./justw scenario NAME --seed 3` is `devkit scenario run NAME --seed 3`."""


def recipes() -> str:
    """Every recipe that is not private, in the order of the justfile."""
    return page("Recipes", _INTRODUCTION, table(("recipe", "what it does"), documented().items()))


def documented() -> dict[str, str]:
    """Recipe to what its comment says."""
    just = which("just") or str(Path(__file__).parents[2] / ".venv/bin/just")
    command = [just, "--justfile", str(_JUSTFILE), "--dump", "--dump-format", "json"]
    dump = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    in_order = _JUSTFILE.read_text(encoding="utf-8").splitlines()
    places = {line.split()[0].rstrip(":"): number for number, line in enumerate(in_order) if line[:1].isalpha()}
    public = {name: recipe for name, recipe in dump["recipes"].items() if not recipe["private"]}
    names = sorted(public, key=lambda name: places[name])
    return {code(f"./justw {name}"): str(public[name]["doc"] or "") for name in names}
