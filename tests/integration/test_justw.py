"""`justw` with everything that would be downloaded replaced by stand-ins, so that each step can be seen and broken.

The stand-in for Python passes all on to the real one, but makes a virtual environment whose pip "installs" a uv and
whose uv "installs" a just; each writes what it was asked to do into a journal. The real set-up is what CI runs.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.waiting import wait_until

ROOMS = ("justw",)
TOP = Path(__file__).parents[2]
NEEDED = (
    "justw",
    "justfile",
    "pyproject.toml",
    "located_config/pyproject.toml",
    "mockapi/pyproject.toml",
    "pipeline/pyproject.toml",
    "locks/all.lock",
    "locks/devkit.lock",
    "locks/build.lock",
    "locks/bootstrap.lock",
)
DEADLINE = timedelta(seconds=60)
STAND_IN = """#!/bin/sh
case "$1 $2" in
  "-m venv")
    echo "venv" >>"$JOURNAL"
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  "-m pip")
    [ "$3" = install ] || exit 0
    echo "pip index=${PIP_INDEX_URL-} cert=${PIP_CERT-}" >>"$JOURNAL"
    cp "$STAND_INS/uv" "$(dirname "$0")/uv" ;;
  *) exec REAL "$@" ;;
esac
"""
UV = """#!/bin/sh
lock=
for argument; do case $argument in locks/all.lock | locks/devkit.lock) lock=" $argument" ;; esac; done
echo "uv $2$lock index=${UV_DEFAULT_INDEX-} cert=${SSL_CERT_FILE-} system=${UV_SYSTEM_CERTS-}" >>"$JOURNAL"
if [ -e "$STAND_INS/hold" ]; then read -r _ <"$STAND_INS/hold"; fi
if [ -e "$STAND_INS/broken" ]; then echo "error: no route to host" >&2; exit 2; fi
cp "$STAND_INS/just" "$(dirname "$0")/just"
"""
JUST = """#!/bin/sh
if [ "$3 $4" = "--show nosuch" ]; then echo "error: justfile does not contain recipe" >&2; exit 1; fi
printf '%s\\n' "just in $PWD" "$@"
"""


@dataclass(frozen=True)
class Checkout:
    """A copy of the files `justw` needs, with the stand-ins beside it."""

    root: Path
    stand_ins: Path
    environment: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [self.root / "justw", *arguments],
            cwd=cwd or self.root,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what is still running, with all it started."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def run(self, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, cwd=cwd, **variables)
        out, err = process.communicate(timeout=DEADLINE.total_seconds())
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @property
    def journal(self) -> list[str]:
        path = self.stand_ins / "journal"
        return path.read_text().splitlines() if path.exists() else []

    def steps(self) -> list[str]:
        """The journal without settings."""
        return [line.split(" index=")[0] for line in self.journal]

    def forget(self) -> None:
        (self.stand_ins / "journal").unlink(missing_ok=True)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    root = tmp_path / "a check out"
    for name in NEEDED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, root / name)
    stand_ins = tmp_path / "stand-ins"
    programs = stand_ins / "bin"
    programs.mkdir(parents=True)
    write(programs / "python3", STAND_IN.replace("REAL", sys.executable))
    write(stand_ins / "uv", UV)
    write(stand_ins / "just", JUST)
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "JOURNAL": str(stand_ins / "journal"),
        "STAND_INS": str(stand_ins),
    }
    checkout = Checkout(root, stand_ins, environment)
    yield checkout
    checkout.end()


def uv_steps(steps: list[str]) -> list[str]:
    return [re.sub(r"^uv .*", "uv", step) for step in steps]


def test_the_first_run_sets_up_and_hands_all_arguments_to_just(checkout: Checkout, tmp_path: Path) -> None:
    run = checkout.run("bench", "a b", "--runs=2", "", cwd=tmp_path)

    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:-1] == [
        f"just in {tmp_path}",
        "--justfile",
        f"{checkout.root}/justfile",
        "bench",
        "a b",
        "--runs=2",
        "",
    ]
    assert uv_steps(checkout.steps()) == ["venv", "pip", "uv", "uv"]
    assert "setting up" in run.stderr


def test_the_second_run_installs_nothing_and_needs_no_python_on_the_path(checkout: Checkout) -> None:
    checkout.run("--setup")
    checkout.forget()

    run = checkout.run("test", PATH="/usr/bin:/bin", JUSTW_PYTHON="/nowhere")

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1] == "test"
    assert checkout.journal == []


def test_a_scenario_is_not_run_by_just_which_would_change_the_exit_code_of_an_interrupted_one(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.run("--setup")
    write(checkout.root / ".venv/bin/devkit", '#!/bin/sh\nprintf "%s\\n" "$PWD" "$@"\nexit 1\n')

    run = checkout.run("scenario", "a b", "--keep", cwd=tmp_path)

    assert (run.returncode, run.stdout.splitlines()) == (1, [str(tmp_path), "scenario", "run", "a b", "--keep"])


def test_setup_alone_runs_no_recipe(checkout: Checkout) -> None:
    run = checkout.run("--setup")
    assert (run.returncode, run.stdout) == (0, "")


def test_a_recipe_that_there_is_not_is_a_usage_error(checkout: Checkout) -> None:
    run = checkout.run("nosuch", "x")
    assert (run.returncode, run.stdout) == (2, "")
    assert "does not contain recipe" in run.stderr


SET_UP_FOR_USERS = ["venv", "pip", "uv sync locks/devkit.lock", "uv install"]
SET_UP_FOR_DEVELOPERS = ["venv", "pip", "uv sync locks/all.lock", "uv install"]


@pytest.mark.parametrize("arguments", ["", "check a.yaml", "--setup scenario"])
def test_a_users_recipe_installs_what_users_need(checkout: Checkout, arguments: str) -> None:
    assert checkout.run(*arguments.split()).returncode == 0
    assert checkout.steps() == SET_UP_FOR_USERS


@pytest.mark.parametrize("arguments", ["test -k x", "test-more", "lint", "--setup docs", "--setup"])
def test_a_developers_recipe_installs_everything(checkout: Checkout, arguments: str) -> None:
    assert checkout.run(*arguments.split()).returncode == 0
    assert checkout.steps() == SET_UP_FOR_DEVELOPERS


def test_a_developers_recipe_adds_the_rest_once_and_it_stays(checkout: Checkout) -> None:
    checkout.run("scenarios")
    checkout.forget()

    assert checkout.run("test").returncode == 0
    assert checkout.steps() == ["uv install locks/all.lock"]
    checkout.forget()
    for recipe in ("test", "scenarios", "--setup"):
        assert checkout.run(recipe).stderr == ""
    assert checkout.journal == []

    with (checkout.root / "locks/all.lock").open("a") as file:
        file.write("# changed\n")
    assert checkout.run("scenarios").returncode == 0
    assert checkout.steps() == ["pip", "uv sync locks/all.lock", "uv install"]


def test_an_older_set_up_without_a_named_lock_keeps_everything(checkout: Checkout) -> None:
    checkout.run("--setup")
    stamp = checkout.root / ".venv" / ".justw-stamp"
    stamp.write_text("".join(line for line in stamp.read_text().splitlines(keepends=True) if "lock" not in line))
    checkout.forget()

    assert checkout.run("scenarios").returncode == 0
    assert checkout.steps() == ["pip", "uv sync locks/all.lock", "uv install"]


def test_without_a_network_a_developers_recipe_says_what_is_missing_and_the_users_still_run(checkout: Checkout) -> None:
    checkout.run("scenarios")
    (checkout.stand_ins / "broken").touch()
    refused = "the package registry http://127.0.0.1:1/simple could not be reached: Connection refused; "

    run = checkout.run("lint", UV_DEFAULT_INDEX="http://127.0.0.1:1/simple")

    assert (run.returncode, run.stdout) == (3, "")
    last = run.stderr.splitlines()[-1]
    for part in ("'./justw lint' needs", "mypy, ", "ruff, ", refused, "run './justw lint' again", "PIP_INDEX_URL"):
        assert part in last
    assert "pytest-benchmark" not in last
    assert checkout.run("scenarios").returncode == 0

    (checkout.stand_ins / "broken").unlink()
    checkout.forget()
    assert checkout.run("lint").returncode == 0
    assert checkout.steps() == ["uv install locks/all.lock"]


def test_an_addition_that_was_killed_leaves_the_users_recipes_and_is_done_from_nothing(checkout: Checkout) -> None:
    checkout.run("scenarios")
    checkout.forget()
    hold = checkout.stand_ins / "hold"
    os.mkfifo(hold)
    killed = checkout.start("test")
    wait_until(lambda: checkout.steps() != [], what="uv to have begun", deadline=DEADLINE)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=DEADLINE.total_seconds())
    hold.unlink()
    checkout.forget()

    assert checkout.run("scenarios").returncode == 0
    assert checkout.journal == []
    assert checkout.run("test").returncode == 0
    assert checkout.steps() == SET_UP_FOR_DEVELOPERS


@pytest.mark.parametrize("lock", ["locks/all.lock", "locks/build.lock", "locks/bootstrap.lock"])
def test_a_changed_lock_is_installed_into_the_environment_that_is_there(checkout: Checkout, lock: str) -> None:
    checkout.run("--setup")
    checkout.forget()
    with (checkout.root / lock).open("a") as file:
        file.write("# changed\n")

    assert checkout.run("--setup").returncode == 0
    assert uv_steps(checkout.steps()) == ["pip", "uv", "uv"]


@pytest.mark.parametrize("room", [".", "located_config", "mockapi", "pipeline"])
def test_a_distribution_with_another_command_is_installed_again(checkout: Checkout, room: str) -> None:
    checkout.run("--setup")
    checkout.forget()
    with (checkout.root / room / "pyproject.toml").open("a") as file:
        file.write('\n[project.gui-scripts]\nanother = "pipeline:another"\n')

    assert checkout.run("--setup").returncode == 0
    assert uv_steps(checkout.steps()) == ["pip", "uv", "uv"]


def test_a_moved_checkout_is_set_up_from_nothing(checkout: Checkout, tmp_path: Path) -> None:
    """Scripts in a virtual environment bear its absolute path."""
    checkout.run("--setup")
    checkout.forget()
    moved = Checkout(checkout.root.rename(tmp_path / "moved"), checkout.stand_ins, checkout.environment)

    assert moved.run("--setup").returncode == 0
    assert moved.steps()[0] == "venv"


def test_an_environment_whose_python_is_gone_is_set_up_from_nothing(checkout: Checkout) -> None:
    checkout.run("--setup")
    checkout.forget()
    (checkout.root / ".venv" / "bin" / "python").unlink()

    assert checkout.run("--setup").returncode == 0
    assert checkout.steps()[0] == "venv"


def test_a_setup_that_was_killed_is_noticed_and_done_again(checkout: Checkout) -> None:
    os.mkfifo(checkout.stand_ins / "hold")
    killed = checkout.start("--setup")
    wait_until(lambda: "uv" in uv_steps(checkout.steps()), what="uv to have begun", deadline=DEADLINE)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=DEADLINE.total_seconds())
    left_over = checkout.root / ".venv" / "left over"
    left_over.touch()
    (checkout.stand_ins / "hold").unlink()
    checkout.forget()

    run = checkout.run("--setup")

    assert run.returncode == 0, run.stderr
    assert uv_steps(checkout.steps()) == ["venv", "pip", "uv", "uv"]
    assert not left_over.exists()


def test_two_at_once_on_a_fresh_checkout_both_succeed_and_one_does_the_work(checkout: Checkout) -> None:
    """The first is held in its uv until the second has said that it waits."""
    hold = checkout.stand_ins / "hold"
    os.mkfifo(hold)
    first = checkout.start("first")
    wait_until(lambda: "uv" in uv_steps(checkout.steps()), what="uv to have begun", deadline=DEADLINE)
    second = checkout.start("second")
    assert second.stderr is not None
    assert "waiting for it" in second.stderr.readline()
    with hold.open("w") as fifo:
        hold.unlink()
        fifo.write("go on\n")

    outputs = {
        name: process.communicate(timeout=DEADLINE.total_seconds())
        for name, process in (("first", first), ("second", second))
    }

    assert (first.returncode, second.returncode) == (0, 0), outputs
    assert {name: out.splitlines()[-1] for name, (out, _) in outputs.items()} == {"first": "first", "second": "second"}
    assert uv_steps(checkout.steps()) == ["venv", "pip", "uv", "uv"]


def test_a_failed_download_ends_with_the_variables_that_help_and_is_done_again(checkout: Checkout) -> None:
    (checkout.stand_ins / "broken").touch()
    run = checkout.run("test", UV_DEFAULT_INDEX="http://me:secret@127.0.0.1:1/simple")
    assert (run.returncode, run.stdout) == (3, "")
    assert "no route to host" in run.stderr
    refused = "the package registry http://127.0.0.1:1/simple could not be reached: Connection refused; "
    for name in ("locks/all.lock", refused, "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE", "HTTPS_PROXY"):
        assert name in run.stderr.splitlines()[-1]

    (checkout.stand_ins / "broken").unlink()
    assert checkout.run("test").returncode == 0


@pytest.mark.parametrize(
    ("given", "pip", "uv"),
    [
        ({}, "index= cert=", "index= cert= system=1"),
        ({"PIP_INDEX_URL": "M"}, "index=M cert=", "index=M cert= system=1"),
        ({"UV_DEFAULT_INDEX": "M"}, "index=M cert=", "index=M cert= system=1"),
        ({"UV_INDEX_URL": "M"}, "index=M cert=", "index=M cert= system=1"),
        ({"PIP_INDEX_URL": "P", "UV_DEFAULT_INDEX": "U"}, "index=P cert=", "index=U cert= system=1"),
        ({"SSL_CERT_FILE": "/c"}, "index= cert=/c", "index= cert=/c system=1"),
        ({"REQUESTS_CA_BUNDLE": "/c"}, "index= cert=/c", "index= cert=/c system=1"),
        ({"PIP_CERT": "/p", "SSL_CERT_FILE": "/c"}, "index= cert=/p", "index= cert=/c system=1"),
        ({"UV_SYSTEM_CERTS": "0"}, "index= cert=", "index= cert= system=0"),
    ],
)
def test_mirror_and_certificates_reach_pip_and_uv(checkout: Checkout, given: dict[str, str], pip: str, uv: str) -> None:
    checkout.run("--setup", **given)
    settings = [line[line.index("index=") :] for line in checkout.journal if "index=" in line]
    assert settings == [pip, uv, uv]


def pretend(checkout: Checkout, preamble: str, name: str = "python3") -> Path:
    """A Python that runs `preamble` before any program given with `-c`."""
    text = f'#!/bin/sh\nprogram=$2\nshift 2\nexec {sys.executable} -c "{preamble}\n$program" "$@"\n'
    return write(checkout.stand_ins / "bin" / name, text)


OLD = "import sys; sys.version_info = (3, 9, 2, 'final', 0)"
BARE = (
    "import importlib.util as u; o = u.find_spec; "
    "u.find_spec = lambda name, *rest: None if name == 'ensurepip' else o(name, *rest)"
)


@pytest.fixture
def only_ours(checkout: Checkout) -> Checkout:
    """No Python but the ones a test puts there: the tools `justw` needs are linked into a directory of their own."""
    tools = checkout.stand_ins / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "cat", "sed", "cksum", "mkdir", "rm", "cp"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    checkout.environment["PATH"] = f"{checkout.stand_ins / 'bin'}:{tools}"
    return checkout


def test_a_python_that_is_too_old_is_named_with_its_version(only_ours: Checkout) -> None:
    pretend(only_ours, OLD)
    run = only_ours.run("test")
    assert run.returncode == 3
    assert re.fullmatch(r"justw: Python 3\.11 or newer is needed, found 3\.9\.2 at \S+; .*JUSTW_PYTHON\n", run.stderr)
    assert not (only_ours.root / ".venv").exists()


def test_a_python_without_venv_is_named_with_the_package_to_install(only_ours: Checkout) -> None:
    pretend(only_ours, BARE)
    run = only_ours.run("test")
    assert run.returncode == 3
    assert re.fullmatch(r"justw: Python \S+ at \S+ has no venv and ensurepip modules; .*python3-venv.*\n", run.stderr)


def test_no_python_at_all(only_ours: Checkout) -> None:
    (only_ours.stand_ins / "bin" / "python3").unlink()
    run = only_ours.run("test")
    assert run.returncode == 3
    assert run.stderr.startswith("justw: no Python found (tried: python3 python3.13 python3.12 python3.11 python);")


def test_a_newer_python_beside_an_old_one_is_taken(only_ours: Checkout) -> None:
    programs = only_ours.stand_ins / "bin"
    (programs / "python3").rename(programs / "python3.12")
    pretend(only_ours, OLD)
    assert only_ours.run("--setup").returncode == 0
    assert only_ours.steps()[0] == "venv"


def test_the_python_that_was_named_is_the_only_one_tried(only_ours: Checkout) -> None:
    old = pretend(only_ours, OLD, "my old python")
    run = only_ours.run("--setup", JUSTW_PYTHON=str(old))
    assert run.returncode == 3
    assert "found 3.9.2" in run.stderr
    assert only_ours.journal == []


def test_an_environment_of_someone_elses_making_is_not_removed(checkout: Checkout) -> None:
    theirs = checkout.root / ".venv" / "theirs"
    theirs.parent.mkdir()
    theirs.touch()
    run = checkout.run("--setup")
    assert run.returncode == 3
    assert "was not made by justw and has no working Python" in run.stderr
    assert theirs.exists()


@pytest.fixture
def real_python(checkout: Checkout) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(**variables: str) -> subprocess.CompletedProcess[str]:
        return checkout.run("--setup", JUSTW_PYTHON=sys.executable, **variables)

    return run


def test_a_registry_that_answers_is_not_blamed(checkout: Checkout) -> None:
    """What failed stands above then."""
    (checkout.stand_ins / "broken").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_one, args=(server,), daemon=True).start()
        run = checkout.run("--setup", UV_DEFAULT_INDEX=f"http://127.0.0.1:{server.getsockname()[1]}/simple")
    assert run.stderr.splitlines()[-1].startswith("justw: could not install what locks/all.lock names, see above; ")


def answer_one(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 404 Not Found\r\n\r\n")


def test_without_a_network_the_real_pip_fails_and_the_last_line_helps(
    checkout: Checkout, real_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """Port 1 of loopback: nobody listens there."""
    run = real_python(PIP_INDEX_URL="http://127.0.0.1:1/simple", PIP_RETRIES="0")
    assert run.returncode == 3
    *others, last = run.stderr.splitlines()
    place = "http://127.0.0.1:1/simple could not be reached: Connection refused"
    assert last.startswith(f"justw: could not install uv: the package registry {place}; PIP_INDEX_URL")
    assert not any("urllib3" in line for line in others)
    assert not (checkout.root / ".venv" / ".justw-stamp").exists()
