import http.client
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.mockapi.conftest import make_page

ROOMS = ("mockapi", "mockapi/control", "mockapi/server")
REVISION = 28674

StartMock = Callable[..., Any]


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mockapi", *arguments], cwd=root, capture_output=True, text=True, timeout=30, check=False
    )


def test_sigterm_ends_it_while_a_request_waits_forty_seconds(start_mock: StartMock) -> None:
    """Its end is awaited for less than the latency, so a server that waits for the request fails the test."""
    mock = start_mock()
    mock.rules({"name": "stuck", "do": {"latency": "40s"}})
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=30)
    connection.request("GET", f"/w/rest.php/v1/revision/{REVISION}/html")
    mock.until_in_flight(1)
    mock.process.terminate()
    out, err = mock.process.communicate(timeout=20)
    assert (mock.process.returncode, out, err) == (0, "", "")
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        connection.getresponse()
    connection.close()


def test_catalog_rules_and_seed_come_from_the_command_line(start_mock: StartMock, tmp_path: Path) -> None:
    catalog, rules = tmp_path / "catalog.jsonl", tmp_path / "rules.yaml"
    catalog.write_text(make_page(1, title="A").model_dump_json() + "\n")
    rules.write_text("- {name: exact, when: {page: A}, do: {body: {size: 20KiB}}}\n")
    mock = start_mock("--seed", "7", "--catalog", str(catalog), "--rules", str(rules))
    state = mock.ask("/__mock/state").json
    assert (state["seed"], state["pages"], [rule["name"] for rule in state["rules"]]) == (7, 1, ["exact"])
    assert len(mock.page(4097).body) == 20_480


def test_a_port_in_use_is_one_line_and_exit_3(start_mock: StartMock, pytestconfig: pytest.Config) -> None:
    mock = start_mock()
    ended = run(pytestconfig.rootpath, "--port", str(mock.port))
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith(f"mockapi: cannot listen on 127.0.0.1:{mock.port}: ")
    assert ended.stderr.count("\n") == 1


def test_a_bad_file_is_one_line_and_exit_2(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("- {name: a, do: {latncy: 1s}}\n")
    ended = run(pytestconfig.rootpath, "--port", "0", "--rules", str(rules))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (f"mockapi: {rules}:1:18: [0].do.latncy: unknown key; did you mean 'latency'?\n")


def test_the_control_may_be_opened_for_networks(start_mock: StartMock) -> None:
    mock = start_mock("--allow-control", "172.16.0.0/12", "--allow-control", "fd00::/16")
    assert mock.ask("/__mock/state").status == 200


@pytest.mark.parametrize("arguments", [["serve"], ["faults", "latncy"], ["faults", "a", "b"]])
def test_wrong_arguments_are_exit_2(pytestconfig: pytest.Config, arguments: list[str]) -> None:
    assert run(pytestconfig.rootpath, *arguments).returncode == 2


def test_with_a_token_only_who_shows_it_controls(start_mock: StartMock, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    mock = start_mock("--control-token-file", str(token))
    shown = {"Authorization": "Bearer secret"}
    for path in ("/__mock/state", "/metrics"):
        refused = mock.ask(path)
        assert (refused.status, refused["www-authenticate"]) == (401, "Bearer")
        assert mock.ask(path, headers=shown).status == 200
    assert mock.page(REVISION).status == 200
    assert mock.ask("/docs").status == 200


def test_a_token_may_come_from_the_environment(
    start_mock: StartMock, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setenv("MOCKAPI_CONTROL_TOKEN", "secret")
    mock = start_mock()
    assert mock.ask("/__mock/state").status == 401
    assert mock.ask("/__mock/state", headers={"Authorization": "Bearer secret"}).status == 200
    monkeypatch.setenv("MOCKAPI_CONTROL_TOKEN", "two words")
    ended = run(pytestconfig.rootpath, "--port", "0")
    assert ended.returncode == 2
    assert ended.stderr.startswith("mockapi: MOCKAPI_CONTROL_TOKEN: not a token")


def test_the_command_line_says_where_links_lead_and_what_is_ignored(start_mock: StartMock) -> None:
    mock = start_mock("--base-url", "http://127.0.0.1:1", "--lenient")
    query = "/w/api.php?action=query&format=json&formatversion=2"
    general = mock.ask(f"{query}&meta=siteinfo").json["query"]["general"]
    assert (general["server"], general["servername"]) == ("http://127.0.0.1:1", "127.0.0.1")
    assert "warnings" in mock.ask(f"{query}&list=allpages").json
    mock.ask("/__mock/state", method="PUT", body={"seed": 2})
    assert b'href="http://127.0.0.1:1/wiki/' in mock.ask("/w/rest.php/v1/revision/4098/html").body
    assert "warnings" in mock.ask(f"{query}&list=allpages").json
