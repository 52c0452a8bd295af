"""The addresses of a stack that is there already, from a YAML file or from the environment.

Credentials come from the environment only, so that no file with a secret in it is asked for.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from devkit.errors import UsageError
from devkit.stack.parts.triple_store import StoreLogin
from devkit.yaml_input import read_yaml, refused
from located_config.problem import Problem, problems


def _matching(pattern: str, shape: str) -> Callable[[str], str]:
    """A validator for text of that pattern, whose error tells the `shape`."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise PydanticCustomError("address", "not understood", {"hint": f"write {shape}"})
        return value

    return check


_HostPort = _matching(r"[^\s:/,]+:\d{1,5}(,[^\s:/,]+:\d{1,5})*", "host:port, or several with commas")
HostPort = Annotated[str, AfterValidator(_HostPort)]
_SparqlUrl = _matching(r"https?://\S+", "http://host:port/path")
HttpUrl = Annotated[str, AfterValidator(_matching(r"https?://[^/\s]+", "http://host:port"))]


def _require_no_user(value: str) -> str:
    if urlsplit(value).username is not None:
        raise PydanticCustomError(
            "address", "no login belongs in a URL", {"hint": "set the variables " + " and ".join(LOGIN_VARIABLES)}
        )
    return value


LOGIN_VARIABLES = ("DEVKIT_TRIPLE_STORE_USER", "DEVKIT_TRIPLE_STORE_PASSWORD")
SparqlUrl = Annotated[str, AfterValidator(_SparqlUrl), AfterValidator(_require_no_user)]

VARIABLES: Mapping[str, str] = {
    "kafka": "DEVKIT_KAFKA",
    "s3_endpoint": "DEVKIT_S3_ENDPOINT",
    "s3_region": "DEVKIT_S3_REGION",
    "mock_api": "DEVKIT_MOCK_API",
    "triple_store_query": "DEVKIT_TRIPLE_STORE_QUERY",
    "triple_store_update": "DEVKIT_TRIPLE_STORE_UPDATE",
    "may_recreate_topics": "DEVKIT_MAY_RECREATE_TOPICS",
    "may_clear_triple_store": "DEVKIT_MAY_CLEAR_TRIPLE_STORE",
}
"""Which environment variable stands for which key of the file."""

_SECRETS: Mapping[str, str] = {
    "access_key": "DEVKIT_S3_ACCESS_KEY",
    "secret_key": "DEVKIT_S3_SECRET_KEY",
    **dict(zip(("triple_store_user", "triple_store_password"), LOGIN_VARIABLES, strict=True)),
}


class StackPlaces(BaseModel):
    """Where the parts are. `may_recreate_topics`: the kit may delete topics that are there when it comes, and with
    `may_clear_triple_store` the triples of the store. Of that only runs ask that need one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kafka: HostPort
    s3_endpoint: HttpUrl
    mock_api: HttpUrl
    s3_region: str = "us-east-1"
    triple_store_query: SparqlUrl | None = None
    triple_store_update: SparqlUrl | None = None
    may_recreate_topics: bool = False
    may_clear_triple_store: bool = False


class Addresses(StackPlaces):
    """The same with the credentials of both stores."""

    access_key: str = Field(default="devkit-local", exclude=True)
    secret_key: str = Field(default="devkit-local", exclude=True, repr=False)
    triple_store_user: str | None = Field(default=None, exclude=True)
    triple_store_password: str | None = Field(default=None, exclude=True, repr=False)

    def triple_store_login(self, file: Path | None = None) -> StoreLogin | None:
        """As `store_login` has it."""
        return store_login((self.triple_store_user, self.triple_store_password), file)


def store_login(given: tuple[str | None, str | None], file: Path | None = None) -> StoreLogin | None:
    """The login of user and password, None where both are missing or empty. Raises UsageError for one alone."""
    user, password = given
    if user and password:
        return StoreLogin(user, password, file)
    if user or password:
        raise UsageError(
            f"the login of the triple store has no {LOGIN_VARIABLES[1 if user else 0]}",
            hint="set both variables, or neither",
        )
    return None


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
    leaked = [Problem((key,), "no secret belongs in a file", f"set the variable {_SECRETS[key]}") for key in secrets]
    try:
        places = StackPlaces.model_validate({key: value for key, value in document.items() if key not in _SECRETS})
    except ValidationError as error:
        raise refused(path, document, [*leaked, *problems(error, StackPlaces, document)]) from error
    if leaked:
        raise refused(path, document, leaked)
    return Addresses.model_validate({**places.model_dump(), **credentials})


def _from_environment(environment: Mapping[str, str], credentials: Mapping[str, str]) -> Addresses:
    values = {key: environment[variable] for key, variable in VARIABLES.items() if variable in environment}
    try:
        return Addresses.model_validate({**values, **credentials})
    except ValidationError as error:
        lines = [
            f"{VARIABLES[str(problem.location[0])]}: {problem.message}" for problem in problems(error, StackPlaces)
        ]
        raise UsageError(
            "the addresses of the external stack:\n" + "\n".join(lines),
            hint="set the variables, or name a YAML file with --addresses",
        ) from error
