"""The configuration of `python -m pipeline apply`: which topic of mutations it reads, and which store it writes to.

source: {bootstrap_servers: "kafka-1:9092", topic: rdf_mutation}
apply: {endpoint: "http://store:7878/update"}
"""

import re
from datetime import timedelta
from typing import Annotated, Final, Literal, Self
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, field_serializer, model_validator

from located_config.duration import PositiveDuration
from located_config.share import PositiveShare
from pipeline.config.kafka_section import Kafka
from pipeline.config.limits_section import ClaimCheck
from pipeline.config.metrics_section import Metrics
from pipeline.config.section import Section, Servers, Topic, require_something, require_url

_IRI: Final = r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$'
_BASE: Final = r'^https?://[^\s<>"{}|\\^`?#]+$'
_UPDATE, _QUERY = "update", "query"
ONE_MUTATION = 1
"""Of `batch_triples`: no two mutations fit into one request."""


def _require_concept_base(value: str) -> str:
    return require_url(value).rstrip("/")


def _require_iri(value: object) -> object:
    if isinstance(value, str) and not re.search(_IRI, value):
        raise ValueError("is no absolute IRI; write one such as urn:store")
    return value


def _require_base(value: object) -> object:
    if isinstance(value, str) and not re.search(_BASE, value):
        raise ValueError("is no base of IRIs; write http://host, such as http://www.wikidata.org")
    return value


def _require_user(value: str) -> str:
    if ":" in value:
        raise ValueError("HTTP Basic takes no user with a colon")
    return require_something(value)


def _require_store_url(value: str) -> str:
    user = urlsplit(value).username
    if user is not None:
        _require_user(unquote(user))
    return require_url(value)


StoreUrl = Annotated[
    str, StringConstraints(pattern=r"^https?://[^/\s]+(/[^\s#]*)?$"), AfterValidator(_require_store_url)
]
_Text = Annotated[str, AfterValidator(require_something)]
Iri = Annotated[str, StringConstraints(pattern=_IRI), BeforeValidator(_require_iri)]
ConceptBase = Annotated[
    str, StringConstraints(pattern=_BASE), AfterValidator(_require_concept_base), BeforeValidator(_require_base)
]


class MutationSource(Section):
    """Which topic of mutations is read."""

    bootstrap_servers: Servers = Field(
        description="Brokers of the cluster, `host:port`, several with commas between them.",
        examples=["kafka-1:9092,kafka-2:9092"],
    )
    topic: Topic = Field(
        description="Topic of rdf_change events. It has one partition, as only one partition orders the mutations of "
        "different entities.",
        examples=["rdf_mutation"],
    )
    group: Topic = Field(
        default="enrichment-apply",
        description="Consumer group that the offset is committed for, so that Kafka's own tools show the lag.",
    )


class Apply(Section):
    """Which store mutations are written to, and how."""

    endpoint: StoreUrl = Field(
        description="URL of the store for SPARQL 1.1 Update requests. With `user:password@`, requests to it log in by "
        "HTTP Basic.",
        examples=["http://store:7878/update"],
    )
    query_endpoint: StoreUrl | None = Field(
        default=None,
        description="URL of the store for SPARQL 1.1 queries. Default: `endpoint`, with `query` in the place of "
        "`update` as the last part of its path, and the same login.",
    )
    username: Annotated[str, AfterValidator(_require_user)] | None = Field(
        default=None, description="User of both endpoints, by HTTP Basic. Default: no login."
    )
    password: _Text | None = Field(
        default=None, description="Password of the user; `password_file` keeps it out of the configuration."
    )
    password_file: _Text | None = Field(
        default=None,
        description="File that holds the password and nothing else; it is read for each request. Default: no file.",
    )
    header_file: _Text | None = Field(
        default=None,
        description="File that holds one header, such as `Authorization: Bearer …`, for the requests to both "
        "endpoints; it is read for each request. Default: no file.",
    )
    graph: Iri | None = Field(
        default=None,
        description="IRI of the named graph that holds triples and offset. Default: the default graph.",
        examples=["http://www.wikidata.org/graph"],
    )
    concept_base: ConceptBase = Field(
        default="http://www.wikidata.org",
        description="Base of the entities' IRIs: a delete asks for what is below it.",
    )
    batch_triples: Annotated[int, Field(ge=1)] = Field(
        default=1_000,
        description="Number of triples that one request changes at most, unless a single mutation has more. 1 is "
        "unsafe: each mutation has a request of its own.",
    )
    delete_weight: Annotated[int, Field(ge=1)] = Field(
        default=100, description="Number of triples that an entity counts as which is deleted by query."
    )
    atomic: bool = Field(
        default=True,
        description="Whether the store executes a request as one transaction, which SPARQL 1.1 does not promise. With "
        "`false` nothing relies on it.",
    )
    count: Literal["none", "probe"] = Field(
        default="none",
        description="How divergence is measured. `probe`: before a request, two queries count which triples to delete "
        "are in the store, and which to add are there already. Not for what the topic held at a start with `--new`, as "
        "a part of it may be in the store, nor for an entity that is written anew or that the store has at that "
        "revision or a later one, nor with `atomic: false`.",
    )
    probe_share: PositiveShare = Field(
        default=1.0, description="Share of the requests that are probed, under `count: probe`."
    )
    timeout: PositiveDuration = Field(
        default=timedelta(minutes=1),
        description="Time that the store has for the answer to a request. Then it counts as down, and the same request "
        "is sent again.",
    )
    incomplete_after: PositiveDuration = Field(
        default=timedelta(minutes=20),
        description="Time by the records' own times for which the beginning of a mutation waits for the rest and holds "
        "the offset back. What comes later is `mutation_incomplete`, and is not applied. Has to be longer than "
        "`stall_timeout` of `rdf-resolve`, within which a mutation is written.",
    )
    offset: Literal["store", "kafka"] = Field(
        default="store",
        description="Where the next offset is kept. `store`: in the store, written by the request that changes the "
        "triples. `kafka` is unsafe: in Kafka alone, so that a store and its offset can disagree.",
    )
    unlinked: Literal["keep", "delete"] = Field(
        default="keep",
        description="What happens to shared triples that an entity links no more. `keep`: they stay. `delete` is "
        "unsafe: other entities lose them.",
    )
    deletes: Literal["apply", "ignore"] = Field(
        default="apply",
        description="What happens to mutations that delete an entity. `ignore` is unsafe: the entity stays.",
    )
    sitelinks: Literal["shared", "as_sent"] = Field(
        default="shared",
        description="Whether the triples of a sitelink count as shared. `as_sent` is unsafe: when two entities are "
        "merged, the sitelink can be lost.",
    )

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        passwords = [key for key in ("password", "password_file") if getattr(self, key) is not None]
        if len(passwords) > 1:
            raise ValueError("apply.password and apply.password_file are both given: write one of them")
        if passwords and self.username is None:
            raise ValueError(f"apply.{passwords[0]} needs apply.username")
        if self.username is not None and not passwords:
            raise ValueError("apply.username needs a password: write apply.password_file")
        for key in ("endpoint", "query_endpoint"):
            has_user = urlsplit(getattr(self, key) or "").username is not None
            if has_user and self.username is not None:
                raise ValueError(f"apply.{key} has a user, and apply.username is another login: write one of them")
        return self

    @property
    def effective_query_endpoint(self) -> str:
        """As written, else that of the update endpoint's store."""
        if self.query_endpoint is not None:
            return self.query_endpoint
        parts = urlsplit(self.endpoint)
        head, slash, last = parts.path.rpartition("/")
        return urlunsplit(parts._replace(path=head + slash + (_QUERY if last == _UPDATE else last)))

    @field_serializer("query_endpoint")
    def _as_effective(self, _written: str | None) -> str:
        return self.effective_query_endpoint


class ApplyConfig(Section):
    """The whole configuration of the process that applies mutations."""

    source: MutationSource = Field(description="Which topic of mutations is read.")
    apply: Apply = Field(description="Which store mutations are written to, and how.")
    kafka: Kafka = Field(default_factory=Kafka, description="How the brokers are reached.")
    claim_check: ClaimCheck = Field(
        default_factory=ClaimCheck, description="Where the chunks are that were too large for a record."
    )
    metrics: Metrics = Field(default_factory=Metrics, description="What the process serves to Prometheus.")
