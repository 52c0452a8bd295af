"""The addresses of a stack that is there already, from a YAML file or from the environment.

Credentials come from the environment only, so that no file with a secret in it is asked for.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from devkit.errors import UsageError
from devkit.yaml_input import read_yaml, refused
from located_config.near import near_miss
from located_config.problem import Problem

HostPort = Annotated[str, StringConstraints(pattern=r"^[^\s:/,]+:\d{1,5}(,[^\s:/,]+:\d{1,5})*$")]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$")]

VARIABLES: Mapping[str, str] = {
    "kafka": "DEVKIT_KAFKA",
    "s3_endpoint": "DEVKIT_S3_ENDPOINT",
    "s3_region": "DEVKIT_S3_REGION",
    "mock_api": "DEVKIT_MOCK_API",
    "may_recreate_topics": "DEVKIT_MAY_RECREATE_TOPICS",
}
"""Which environment variable stands for which key of the file."""

_SECRETS: Mapping[str, str] = {"access_key": "DEVKIT_S3_ACCESS_KEY", "secret_key": "DEVKIT_S3_SECRET_KEY"}
_SHAPES = {
    "kafka": "host:port, or several with commas",
    "s3_endpoint": "http://host:port",
    "mock_api": "http://host:port",
    "may_recreate_topics": "true or false",
}


class Addresses(BaseModel):
    """Where the parts are. `may_recreate_topics`: the kit may delete topics that are there when it comes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kafka: HostPort
    s3_endpoint: HttpUrl
    mock_api: HttpUrl
    s3_region: str = "us-east-1"
    may_recreate_topics: bool = False
    access_key: str = Field(default="devkit-local", exclude=True)
    secret_key: str = Field(default="devkit-local", exclude=True, repr=False)


def read_addresses(path: Path | None, environment: Mapping[str, str] | None = None) -> Addresses:
    """The addresses in the file, or of the environment when there is no file.

    Raises InvalidFileError with line and column, UsageError that names the variable.
    """
    environment = os.environ if environment is None else environment
    credentials = _credentials(environment)
    return _from_environment(environment, credentials) if path is None else _from_file(path, credentials)


def with_credentials(addresses: Addresses, environment: Mapping[str, str]) -> Addresses:
    """The same addresses with the environment's credentials."""
    return addresses.model_copy(update=_credentials(environment))


def _credentials(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: environment[variable] for key, variable in _SECRETS.items() if variable in environment}


def _from_file(path: Path, credentials: Mapping[str, str]) -> Addresses:
    document = read_yaml(path)
    secrets = sorted(document.keys() & _SECRETS)
    problems = [Problem((key,), "no secret belongs in a file", f"set the variable {_SECRETS[key]}") for key in secrets]
    try:
        addresses = Addresses.model_validate(
            {key: value for key, value in document.items() if key not in _SECRETS} | dict(credentials)
        )
    except ValidationError as error:
        problems += [
            Problem(detail["loc"], *_said(str(detail["loc"][0]), detail["type"], detail["input"]))
            for detail in error.errors()
        ]
        raise refused(path, document, problems) from error
    if problems:
        raise refused(path, document, problems)
    return addresses


def _from_environment(environment: Mapping[str, str], credentials: Mapping[str, str]) -> Addresses:
    given = {key: environment[variable] for key, variable in VARIABLES.items() if variable in environment}
    try:
        return Addresses.model_validate({**given, **credentials})
    except ValidationError as error:
        said = [
            (VARIABLES[key], *_said(key, detail["type"], detail["input"]))
            for detail in error.errors()
            for key in map(str, detail["loc"][:1])
        ]
        texts = [f"{variable}: {text}" + (f"; {remedy}" if remedy else "") for variable, text, remedy in said]
        raise UsageError(
            "the addresses of the external stack:\n" + "\n".join(texts),
            hint="set the variables, or name a YAML file with --addresses",
        ) from error


def _said(key: str, kind: str, value: object) -> tuple[str, str | None]:
    """What is wrong with an address, and what to write."""
    if kind == "missing":
        return "is missing", None
    if kind == "extra_forbidden":
        return "unknown key", near_miss(key, VARIABLES)
    return f"not understood (got {value!r})", f"write {_SHAPES.get(key, 'text')}"
