"""A status that a rule wants, in the words of the REST API."""

from mockapi.faults import status as status_fault
from mockapi.faults.status import Status
from mockapi.reply import Reply
from mockapi.request import Request
from mockapi.routes.rest.errors import RestError, error_reply


def status_reply(status: Status, request: Request, request_id: str, *, missing: RestError, denied: RestError) -> Reply:
    """404 and 403 as this route says them, the rest as everywhere."""
    error = {404: missing, 403: denied}.get(status.code) if status.body is None else None
    if error is None:
        return status_fault.reply(status, revision="", request_id=request_id)
    return status_fault.with_retry_after(error_reply(error, request, request_id), status)
