"""A status that a rule wants, in the words of the REST API."""

from mockapi.api import status as statuses
from mockapi.api.rest.errors import RestError, error_reply
from mockapi.plan import StatusAnswer
from mockapi.server.reply import Reply
from mockapi.server.request import Request


def status_reply(
    status: StatusAnswer, request: Request, request_id: str, *, missing: RestError, denied: RestError
) -> Reply:
    """404 and 403 as this route says them, the rest as everywhere."""
    error = {404: missing, 403: denied}.get(status.code) if status.body is None else None
    if error is None:
        return statuses.reply(status, request_id)
    return statuses.with_retry_after(error_reply(error, request, request_id), status)
