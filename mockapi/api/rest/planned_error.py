"""The error that a rule wants of the REST API, for the requests that get it in MediaWiki.

An exception can end any of them. A write is refused as by the Action API, in `mockapi.api.rest.write`; of what is read
only the stashing of HTML has a rate limit.
"""

from dataclasses import replace

from mockapi.api.endpoint import Context
from mockapi.api.rest.errors import RestError, rest_exception
from mockapi.faults.error import EXCEPTION, full_class
from mockapi.server.reply import Reply
from mockapi.wiki.pages.flavor import Flavor


def planned_exception(context: Context) -> Reply | None:
    """500 for an exception that a rule wants; None without one."""
    code = context.plan.error
    if code is None or not code.startswith(EXCEPTION):
        return None
    return replace(rest_exception(full_class(code.removeprefix(EXCEPTION)), context.request_id), by_rule=True)


def check_stash(context: Context, flavor: Flavor) -> None:
    """Raises RestError for HTML that is to be stashed while a rule wants a rate limit exceeded."""
    if flavor == "stash" and context.plan.error == "ratelimited":
        text = "A rate limit was exceeded. Please try again later."
        raise by_rule(RestError(429, "rest-rate-limit-exceeded", text, first={"error-keys": ["actionthrottledtext"]}))


def by_rule(error: RestError) -> RestError:
    """The error, marked as one that a rule wants."""
    error.by_rule = True
    return error
