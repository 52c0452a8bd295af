"""What the Action API refuses, in MediaWiki's codes and words.

An error ends the action; the answer is a 200 all the same, but for the few that are about HTTP itself. English only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mockapi.api.action.tree import Tree
from mockapi.faults.error import full_class

_LEAST_RETRY_AFTER_S: Final = 5


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """A text by its key, with what stands in its gaps; for clients that word errors themselves."""

    key: str
    params: tuple[str, ...] = ()


class ApiError(Exception):
    """`data` goes into the answer beside the text, `headers` into its head. `status` is HTTP's. `module` is the path of
    the module that refuses, empty as long as that is not known, and for the main one. `by_rule` is whether a rule wants
    the error.
    """

    def __init__(
        self,
        code: str,
        english: str,
        *,
        data: Mapping[str, Tree] | None = None,
        status: int = 200,
        headers: tuple[tuple[bytes, bytes], ...] = (),
        message: ErrorMessage | None = None,
    ) -> None:
        super().__init__(english)
        self.code = code
        self.english = english
        self.data = data or {}
        self.status = status
        self.headers = headers
        self.message = message or ErrorMessage(f"apierror-{code}")
        self.module = ""
        self.by_rule = False


def bad_value(parameter: str, value: str) -> ApiError:
    """`badvalue`: none of those that the parameter allows."""
    return ApiError("badvalue", f'Unrecognized value for parameter "{parameter}": {value}.')


def not_implemented(parameter: str, values: Sequence[str] = (), implemented: Sequence[str] = ()) -> ApiError:
    """`mock-not-implemented`: what MediaWiki has and the mock has not, a parameter or some of its `values`."""
    what = f"{parameter}={'|'.join(values)}" if values else f'parameter "{parameter}"'
    known = f" Implemented values of {parameter}: {', '.join(implemented) or 'none'}." if values else ""
    hint = "start the mock with --lenient to have it ignored, or called unrecognized"
    return ApiError("mock-not-implemented", f"The mock does not implement {what}.{known} hint: {hint}.")


def bad_integer(parameter: str, value: str) -> ApiError:
    """A value that is no 64-bit integer."""
    message = ErrorMessage("paramvalidator-badinteger", (parameter, value))
    return ApiError("badinteger", f'Invalid value "{value}" for integer parameter "{parameter}".', message=message)


def bad_timestamp(parameter: str, value: str) -> ApiError:
    """A value that is no time."""
    message = ErrorMessage("paramvalidator-badtimestamp", (parameter, value))
    return ApiError("badtimestamp", f'Invalid value "{value}" for timestamp parameter "{parameter}".', message=message)


def missing_parameter(parameter: str) -> ApiError:
    """A parameter without which the action cannot be."""
    message = ErrorMessage("paramvalidator-missingparam", (parameter,))
    return ApiError("missingparam", f'The "{parameter}" parameter must be set.', message=message)


def one_of_required(parameters: Sequence[str]) -> ApiError:
    """None of several parameters, of which exactly one is needed."""
    return ApiError("missingparam", f"One of the parameters {listed(parameters)} is required.")


def at_least_one_required(parameters: Sequence[str]) -> ApiError:
    """None of several parameters, of which one or more are needed."""
    return ApiError("missingparam", f"At least one of the parameters {listed(parameters)} is required.")


def not_together(parameters: Sequence[str]) -> ApiError:
    """Several parameters, of which only one may be there."""
    return ApiError("invalidparammix", f"The parameters {listed(parameters)} can not be used together.")


def cannot_use_with(parameter: str, other: str, code: str = "invalidparammix") -> ApiError:
    """A parameter that another one excludes."""
    return ApiError(code, f'The "{parameter}" parameter cannot be used with "{other}".')


def must_be_posted(module: str) -> ApiError:
    """A GET of an action that takes a POST."""
    return ApiError("mustbeposted", f'The "{module}" module requires a POST request.')


def must_be_in_body(parameters: Sequence[str]) -> ApiError:
    """Secrets in the query string."""
    single = len(parameters) == 1
    subject = "parameter was" if single else "parameters were"
    names = ", ".join(parameters)
    return ApiError(
        "mustpostparams", f"The following {subject} found in the query string, but must be in the POST body: {names}."
    )


def bad_token() -> ApiError:
    """A token that is not the session's, whatever it was for."""
    return ApiError("badtoken", "Invalid CSRF token.")


_ASSERTIONS: Final = {
    "anon": "You are no longer logged out, so the action could not be completed.",
    "user": "You are no longer logged in, so the action could not be completed.",
    "bot": 'You do not have the "bot" right, so the action could not be completed.',
}


def assertion_failed(asserted: str) -> ApiError:
    """The client is not what `assert` says: `anon`, `user` or `bot`."""
    return ApiError(f"assert{asserted}failed", _ASSERTIONS[asserted])


def named_assertion_failed(name: str) -> ApiError:
    """The client is not the user that `assertuser` names."""
    text = f'You are no longer logged in as "{name}", so the action could not be completed.'
    return ApiError("assertnameduserfailed", text)


def lagged(lag: float, most: int) -> ApiError:
    """`maxlag`: the replicas are `lag` seconds behind, more than the `most` that a client gives."""
    unit = "second" if abs(lag) == 1 else "seconds"
    return ApiError(
        "maxlag",
        f"Waiting for a database server: {lag} {unit} lagged.",
        data={"host": "", "lag": lag, "type": "db"},
        headers=(
            (b"retry-after", str(max(most, _LEAST_RETRY_AFTER_S)).encode()),
            (b"x-database-lag", str(int(lag)).encode()),
        ),
    )


def uncaught(name: str, request_id: str) -> ApiError:
    """`internal_api_error_NAME`: an exception of that class, which nothing in MediaWiki caught."""
    full = full_class(name)
    return ApiError(
        f"internal_api_error_{name}",
        f"[{request_id}] Caught exception of type {full}",
        data={"errorclass": full},
        message=ErrorMessage("apierror-exceptioncaughttype", (request_id, full)),
    )


def bad_continue() -> ApiError:
    """A continuation that no answer gave."""
    return ApiError(
        "badcontinue", "Invalid continue param. You should pass the original value returned by the previous query."
    )


def missing_title() -> ApiError:
    """`missingtitle`: the action needs a page that exists."""
    return ApiError("missingtitle", "The page you specified doesn't exist.")


def invalid_title(title: str) -> ApiError:
    """`invalidtitle`: no page can have this title."""
    return ApiError("invalidtitle", f'Bad title "{title}".')


def no_such_page_id(page_id: int) -> ApiError:
    """`nosuchpageid`: also for a page that was deleted."""
    return ApiError("nosuchpageid", f"There is no page with ID {page_id}.")


def listed(words: Sequence[str]) -> str:
    """`"a"`, `"a" and "b"`, `"a", "b" and "c"`."""
    quoted = [f'"{word}"' for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
