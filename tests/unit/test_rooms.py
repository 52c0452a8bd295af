"""The rooms of the project and what may go from one to another."""

import re
import subprocess
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from devkit.expectations.registry import EXPECTATIONS
from tests.import_graph import Import, depends, imports

TOP = Path(__file__).parents[2]
ROOMS = ("devkit", "located_config", "mockapi", "pipeline")
# `devkit` drives the other two from outside and may know how they are configured and what they say, nothing deeper. How
# soon the job's clients try a broker again is of that, and which records they can read: were the kit's own slower or
# stricter, it would fail where the job goes on.
# `located_config` is below all of them: whatever is deployed alone takes it along.
ALLOWED = {
    "devkit": {
        "located_config",
        "pipeline.config.apply_config",
        "pipeline.config.pipeline_config",
        "pipeline.config.unsafe",
        "pipeline.driver.session.known_keys",
        "pipeline.driver.spark_conf.unknown_keys",
        "pipeline.driver.spark_slots",
        "pipeline.events",
        "pipeline.jobs.names",
        "pipeline.kafka.long_lived",
        "pipeline.kafka.record_quirks",
        "pipeline.memory.spark.spark_size",
        "pipeline.metrics.apply_catalogue",
        "pipeline.metrics.catalogue",
        "pipeline.kafka.partition_offsets",
        "pipeline.kafka.errors",
        "pipeline.records.error_types",
        "pipeline.schemas",
        "mockapi.client",
        "mockapi.rules.model",
        "mockapi.rules.proof",
        "mockapi.wiki.catalog",
    },
    "located_config": set[str](),
    "mockapi": {"located_config"},
    "pipeline": {"located_config"},
}
CATCH_ALL_NAMES = {"utils", "util", "helpers", "helper", "manager", "common"}
MOST_LINES = 500
REGISTRY = re.compile(
    r"https?://(?:[\w-]+\.)*(?:pypi|pythonhosted|maven(?:\.apache)?|npmjs|golang|docker|jitpack)\.(?:org|com|io)"
)


def sources(room: str) -> list[Path]:
    return sorted((TOP / room).rglob("*.py"))


def trespasses(room: str, found: Import) -> bool:
    """Whether an import in `room` enters another room elsewhere than by a module that is allowed, or below it."""
    other = found.module.split(".")[0]
    if other == room or other not in ROOMS:
        return False
    return not any(f"{found.module}.".startswith(f"{allowed}.") for allowed in ALLOWED[room])


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    found = [
        one
        for path in sources(room)
        for one in imports(path.read_text(), path.relative_to(TOP), ".".join(path.relative_to(TOP).parent.parts))
    ]
    assert found, f"{room} imports nothing: nothing was checked"
    assert [one for one in found if trespasses(room, one)] == []


@pytest.mark.parametrize(
    ("room", "line", "wrong"),
    [
        ("pipeline", "import devkit", True),
        ("pipeline", "from mockapi.rules import model", True),
        ("mockapi", "def f():\n    from pipeline.config.pipeline_config import Config", True),
        ("mockapi", "from ..pipeline import config", True),
        ("devkit", "from pipeline.fetch import client", True),
        ("devkit", "from pipeline import configuration", True),
        ("devkit", "import pipeline", True),
        ("devkit", "from mockapi.rules import matching", True),
        ("devkit", "from mockapi.rules import model", False),
        ("devkit", "from mockapi.rules.model import Rule", False),
        ("devkit", "from pipeline.config.pipeline_config import Config", False),
        ("devkit", "from pipeline.events import Started", False),
        ("devkit", "from pipeline.driver.spark_conf import effective", True),
        ("devkit", "import devkit.errors, json", False),
        ("pipeline", "import pipelines", False),
        ("pipeline", "from located_config.duration import Duration", False),
        ("mockapi", "import located_config", False),
        ("located_config", "from pipeline.config import PipelineConfig", True),
        ("located_config", "from mockapi.rules import model", True),
        ("located_config", "from devkit.errors import Problem", True),
    ],
)
def test_the_rule_itself(room: str, line: str, wrong: bool) -> None:
    found = imports(line, Path("x.py"), room)
    assert any(trespasses(room, one) for one in found) is wrong


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_not_empty(room: str) -> None:
    assert [path for path in sources(room) if path.name != "__init__.py"]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules that cannot be put into an order, each circle in its own; empty when all can."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle: list[str] = error.args[1]
        left = {name: {one for one in needed if one not in circle} for name, needed in graph.items()}
        return [circle, *circles(left)]
    return []


@pytest.mark.parametrize("room", ROOMS)
def test_no_modules_import_one_another_in_a_circle(room: str) -> None:
    texts = {
        ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for path in sources(room)
    }
    graph = depends(texts)
    assert any(graph.values()), f"nothing in {room} imports anything of it: nothing was checked"
    assert circles(graph) == []


def test_a_circle_is_seen_that_only_types_make() -> None:
    texts = {
        "room.a": "from room.b import B",
        "room.b": "if TYPE_CHECKING:\n    from room import c",
        "room.c": "def f():\n    import room.a",
        "room.d": "from room.a import A",
    }
    (circle,) = circles(depends(texts))
    assert set(circle) == {"room.a", "room.b", "room.c"}


@pytest.mark.parametrize("room", [*ROOMS, "docs/generate", "tests", "benchmarks"])
def test_no_file_is_long(room: str) -> None:
    lengths = {str(path.relative_to(TOP)): len(path.read_text().splitlines()) for path in sources(room)}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_has_a_name_that_anything_fits(room: str) -> None:
    assert [path for path in (TOP / room).rglob("*") if path.stem in CATCH_ALL_NAMES] == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_scenario_is_known_to_the_code(room: str) -> None:
    """What is particular to an incident stands in its file; code that names one would be a lever for it alone."""
    names = [path.stem for path in (TOP / "scenarios").rglob("*.y*ml")]
    # An incident may be named after what is measured: that is a name of the expectation, for any scenario.
    as_words = {name.replace("-", "_") for name in names} - EXPECTATIONS.keys()
    forbidden = ["oversized", *names, *as_words]
    texts = {str(path.relative_to(TOP)): path.read_text() for path in sources(room)}
    assert {(path, name) for path, text in texts.items() for name in forbidden if name in text} == set()


@pytest.mark.starts_process("git lists the files")
def test_no_file_names_a_package_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [TOP / name for name in listed.stdout.split("\0") if name and (TOP / name).is_file()]
    assert TOP / "locks/all.lock" in files
    texts = {str(path.relative_to(TOP)): path.read_bytes().decode(errors="replace") for path in files}
    assert [(path, match[0]) for path, text in texts.items() if (match := REGISTRY.search(text))] == []


@pytest.mark.parametrize("host", ["pypi", "files.pythonhosted", "repo1.maven", "repo.maven.apache", "proxy.golang"])
def test_a_registry_is_recognised(host: str) -> None:
    assert REGISTRY.search(f"see https://{host}.org/simple")
