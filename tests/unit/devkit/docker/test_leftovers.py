"""An engine in memory, which the removal talks to as to the docker command."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.docker.access import DockerAccess
from devkit.docker.causes import EngineError
from devkit.docker.leftovers import remaining, remove_containers
from devkit.errors import StackError, WaitTimeoutError

ACCESS = DockerAccess(command="/nowhere/docker")
LISTS = {"ps": "containers", "network": "networks", "volume": "volumes"}


@dataclass
class FakeEngine:
    """`late` holds what appears at a time; `stuck` cannot be removed."""

    things: dict[str, set[str]]
    late: dict[float, tuple[str, str]] = field(default_factory=dict)
    stuck: frozenset[str] = frozenset()
    now: float = 0.0
    gone_at: float | None = None

    def command(self, _access: DockerAccess, arguments: list[str]) -> str:
        for moment in [moment for moment in self.late if moment <= self.now]:
            kind, name = self.late.pop(moment)
            self.things.setdefault(kind, set()).add(name)
        if self.gone_at is not None and self.now >= self.gone_at:
            raise EngineError("no Docker engine answers")
        match arguments:
            case ["ps" | "network" | "volume" as kind, *_] if "--filter" in arguments:
                assert arguments[-1] == "label=enrichment-devkit.run=cafe"
                return "\n".join(sorted(self.things.get(LISTS[kind], ())))
            case ["rm", "--force", "--volumes", *names]:
                return self._remove("containers", names)
            case ["network", "rm", *names]:
                # As an engine does: a network with a container in it stays.
                if self.things.get("containers"):
                    raise StackError("network has active endpoints")
                return self._remove("networks", names)
            case ["volume", "rm", "--force", *names]:
                return self._remove("volumes", names)
        raise AssertionError(arguments)

    def _remove(self, kind: str, names: list[str]) -> str:
        self.things[kind] -= set(names) - self.stuck
        return ""

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def end(self) -> None:
        remove_containers(ACCESS, "cafe", command=self.command, clock=lambda: self.now, sleep=self.sleep)


NAMES = st.sets(st.text("abcdef", min_size=1, max_size=3), max_size=4)


@given(
    things=st.fixed_dictionaries({"containers": NAMES, "networks": NAMES, "volumes": NAMES}),
    late=st.dictionaries(
        st.floats(0, 0.9), st.tuples(st.sampled_from(sorted(LISTS.values())), st.sampled_from("xyz")), max_size=4
    ),
)
def test_nothing_is_left_also_of_what_appears_late(
    things: dict[str, set[str]], late: dict[float, tuple[str, str]]
) -> None:
    engine = FakeEngine(things, late)
    engine.end()
    assert not engine.late
    assert not any(engine.things.values())


def test_what_is_left_is_named() -> None:
    engine = FakeEngine({"volumes": {"a", "b"}}, stuck=frozenset("b"))
    with pytest.raises(WaitTimeoutError, match=r"did not remove \{'volumes': \['b'\]\} of run cafe"):
        engine.end()
    assert engine.now >= 60


@pytest.mark.parametrize("gone_at", [0, 0.5])
def test_without_an_engine_it_does_not_go_on(gone_at: float) -> None:
    engine = FakeEngine({"containers": {"a"}}, gone_at=gone_at)
    with pytest.raises(EngineError):
        engine.end()
    assert engine.now < 1


def test_what_remains_by_kind() -> None:
    engine = FakeEngine({"containers": {"a"}, "networks": set(), "volumes": {"v", "w"}})
    assert remaining(ACCESS, "cafe", command=engine.command) == {"containers": ["a"], "volumes": ["v", "w"]}
