"""An S3 store: MinIO when its binary is on PATH, else moto's server. Both have their objects on disk."""

import contextlib
import functools
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from devkit.guardian import Guardian
from devkit.stack.parts.part import Lead, unproxied
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

REGION = "us-east-1"
# The store listens on loopback and dies with the run; this is a name, not a secret.
ACCESS_KEY = SECRET_KEY = "devkit-local"


@dataclass(frozen=True)
class ObjectStore:
    """A store that programs under test reach at `endpoint`, maybe through a proxy, and the kit itself at `direct`."""

    endpoint: str
    direct: str
    kind: str
    access_key: str = ACCESS_KEY
    secret_key: str = field(default=SECRET_KEY, repr=False)
    region: str = REGION

    def client(self) -> "S3Client":
        """For the kit itself, past every proxy. Connects with its first call."""
        return s3_client(self.direct, access_key=self.access_key, secret_key=self.secret_key, region=self.region)

    def credentials(self) -> dict[str, str]:
        """The environment by which any S3 client finds the credentials."""
        return credentials(self.access_key, self.secret_key, self.region)


def credentials(access_key: str = ACCESS_KEY, secret_key: str = SECRET_KEY, region: str = REGION) -> dict[str, str]:
    """The environment by which any S3 client finds the credentials, by default of the stores that the kit starts."""
    return {"AWS_ACCESS_KEY_ID": access_key, "AWS_SECRET_ACCESS_KEY": secret_key, "AWS_REGION": region}


def s3_client(
    endpoint: str, *, access_key: str = ACCESS_KEY, secret_key: str = SECRET_KEY, region: str = REGION
) -> "S3Client":
    """A boto3 client with short time-outs, by default for the stores that the kit starts. Nothing that the user has set
    up for AWS reaches it.
    """
    return _session().client(
        "s3",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(
            # The second would be read from the environment.
            s3={"addressing_style": "path", "us_east_1_regional_endpoint": "regional"},
            connect_timeout=2,
            read_timeout=10,
            retries={"mode": "standard", "total_max_attempts": 2},
            proxies={},
        ),
    )


@functools.cache
def _session() -> boto3.Session:
    """Without variables and files of the user: a profile that is meant for other stores is not even looked up."""
    session = Session()
    for name, (_, _, default, conversion) in dict(session.session_var_map).items():
        session.session_var_map[name] = (None, None, default, conversion)
    for name in ("config_file", "credentials_file"):
        session.session_var_map[name] = (None, None, os.devnull, None)
    return boto3.Session(botocore_session=session)


def start_object_store(
    guardian: Guardian,
    logs: Path,
    buckets: tuple[str, ...],
    *,
    port: int | None = None,
    lead: Lead = unproxied,
) -> tuple[ObjectStore, ProcessPart]:
    """Start a store that will have these buckets; returns as soon as it has begun."""
    chosen = claim_port(port, "the object store")
    address = f"{LOOPBACK}:{chosen}"
    minio = shutil.which("minio")
    advertised = lead("object-store", address)
    store = ObjectStore(f"http://{advertised}", f"http://{address}", "minio" if minio else "moto")
    env: dict[str, str] = {}
    if minio:
        data = guardian.directory / "minio"
        data.mkdir(exist_ok=True)
        # The console would otherwise listen on every interface.
        argv = [minio, "server", str(data), "--quiet", "--address", f"{LOOPBACK}:{chosen}"]
        argv += ["--console-address", f"{LOOPBACK}:{claim_port(None, 'MinIO')}"]
        env = {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY}
    else:
        data = guardian.directory / "moto"
        argv = [sys.executable, "-m", "devkit.stack.parts.moto_store", "--port", str(chosen), "--data", str(data)]
    return store, ProcessPart(
        guardian,
        "object-store",
        argv,
        address=store.endpoint,
        ready=lambda life: await_object_store(store, life, buckets),
        logs=logs,
        env=env,
    )


def await_object_store(store: ObjectStore, life: Life, buckets: tuple[str, ...]) -> None:
    """Wait until the store answers, and make the buckets."""
    client = store.client()

    def answers() -> bool:
        require_running(life)
        try:
            client.list_buckets()
        except (BotoCoreError, ClientError):
            return False
        return True

    wait_until(
        answers,
        what=f"the object store to answer at {store.direct}",
        deadline=READY,
        hint=f"its log is {life.stderr}",
    )
    for bucket in buckets:
        # A store that comes with the buckets says so.
        with contextlib.suppress(client.exceptions.BucketAlreadyOwnedByYou, client.exceptions.BucketAlreadyExists):
            client.create_bucket(Bucket=bucket)
