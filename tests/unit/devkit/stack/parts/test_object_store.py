import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import StackError
from devkit.stack.parts.object_store import credentials, s3_client, start_object_store
from devkit.stack.parts.part import LEVERS, NOT_COPIED
from devkit.stack.ports import free_port
from tests.unit.devkit.stack.fakes import FakeGuardian


def test_moto_where_there_is_no_minio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    guardian, port = FakeGuardian(tmp_path), free_port()
    store, part = start_object_store(guardian.real(), tmp_path, (), port=port)
    assert (store.kind, store.endpoint) == ("moto", f"http://127.0.0.1:{port}")
    module = ["-m", "devkit.stack.parts.moto_store"]
    assert guardian.started == [
        ("object-store", [sys.executable, *module, "--port", str(port), "--data", str(tmp_path / "moto")], {})
    ]
    assert part.levers == set(LEVERS) - set(NOT_COPIED)


def test_minio_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    guardian = FakeGuardian(tmp_path)
    store, part = start_object_store(guardian.real(), tmp_path, ())
    ((name, argv, env),) = guardian.started
    assert (store.kind, name, argv[:3]) == ("minio", "object-store", ["/bin/minio", "server", str(tmp_path / "minio")])
    assert (tmp_path / "minio").is_dir()
    # Neither the store nor its console may be reached from elsewhere.
    addresses = [argv[argv.index(flag) + 1] for flag in ("--address", "--console-address")]
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    assert len(set(addresses)) == 2
    assert store.endpoint == f"http://{addresses[0]}"
    assert [env["MINIO_ROOT_USER"], env["MINIO_ROOT_PASSWORD"]] == list(credentials().values())[:2]
    assert part.levers == set(LEVERS) - set(NOT_COPIED)


def test_the_client_asks_this_store_and_gives_up_soon() -> None:
    client = s3_client("http://127.0.0.1:9")
    assert client.meta.endpoint_url == "http://127.0.0.1:9"
    config: Any = client.meta.config
    assert config.connect_timeout == 2
    assert config.s3 == {"addressing_style": "path"}
    client.close()


def test_a_store_that_ended_is_not_waited_for(tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    _, part = start_object_store(guardian.real(), tmp_path, ("claims",))
    guardian.processes[0].exit_code = 1
    with pytest.raises(StackError, match=r"^object-store ended with exit code 1"):
        part.await_ready()
