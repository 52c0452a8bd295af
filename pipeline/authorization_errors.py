"""A broker that answers, and says that the client has no right to do what it asked for: an ACL is missing, and a
restart would only hear the same.
"""

from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)

from pipeline.errors import MISSING_RIGHTS, PipelineError, RefusedError

_DENIED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


def broker_failure(what: str, error: Exception, *, hint: str | None = None) -> PipelineError:
    """The error for a client's exception: RefusedError where a right is missing, else PipelineError with the hint."""
    if isinstance(error, _DENIED):
        # The exception's own text is the whole request.
        return RefusedError(f"{what}: the brokers deny it: {type(error).__name__}", hint=MISSING_RIGHTS)
    return PipelineError(f"{what}: {error!r}", hint=hint)
