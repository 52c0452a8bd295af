"""A circuit breaker, of one wiki or of the endpoint behind which all of them are, as one Python worker sees it: what is
unhealthy gets no requests for a while.

    closed     of the requests of the last `window` and those under way, `failure_rate` failed ─▶ open, if at least
               `minimum_requests` have ended (of the endpoint: and failed at `minimum_wikis`, see `WikisWindow`)
    open       its time is over, or a new task begins, as the driver's probe succeeded ─▶ half-open
    half-open  `trial_requests` go out alone, until the rest of them cannot matter ─▶ closed, or open for twice as long

The model is resilience4j's, with a window of time: a wiki that is seldom asked keeps no old failures. Those under way
count as not failed: when a batch begins the first answers are the fastest, and a refusal comes sooner than a page.
What failed is what the upstream is to blame for (5xx, 429, no answer, a broken connection, a body that says so); that
a revision does not exist is an answer as good as any. Nothing here waits, and nothing outlives the process: a new one
finds out by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from pipeline.config.pipeline_config import Breaker
from pipeline.fetch.breaker_window import RequestWindow, WikiWindow
from pipeline.fetch.route import Ask

Scope = str | None
"""What a breaker is for: the wiki of this id, or the endpoint."""
ENDPOINT: Final = None
State = Literal["closed", "open", "half-open"]

# Different fetches that failed, of which one may fail for its page's sake alone.
KEPT_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Opened:
    """A worker's report to its driver about a wiki, or the endpoint, that it does not ask any more.

    `requests` and `failed` are those of the window when it opened, of `wikis` wikis the failed ones; `why` is the last
    failure. `asks` are the requests that failed last, the newest first, those of the endpoint each of another wiki;
    `succeeded` is the last one that did not. `retry_after_s` is what remains of the time the upstream asked for, 0 for
    none.
    """

    scope: Scope
    requests: int
    failed: int
    why: str
    asks: tuple[Ask, ...]
    succeeded: Ask | None = None
    retry_after_s: float = 0.0
    wikis: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request went. `failed` by the upstream's fault, for `why`; `retry_after_s` is what it asked for."""

    failed: bool
    why: str = ""
    retry_after_s: float | None = None


@dataclass(eq=False, slots=True)
class Pass:
    """Permission to make one request; `trial` numbers the half-open time that it is a trial of."""

    ask: Ask
    trial: int | None = None


class CircuitBreaker:
    """For one event loop, but for `new_task` and `opened`."""

    def __init__(
        self, scope: Scope, settings: Breaker, clock: Callable[[], float], window: RequestWindow | None = None
    ) -> None:
        """`clock` counts seconds and never goes back. `window` is a wiki's unless another is given."""
        self.scope, self._settings, self._clock = scope, settings, clock
        self._window: RequestWindow = WikiWindow() if window is None else window
        self._window_s = settings.window.total_seconds()
        # The number of failed trials that decides: their share cannot fall below the rate any more.
        self._failures_decide = max(1, ceil(settings.failure_rate * settings.trial_requests))
        self._successes_decide = settings.trial_requests - self._failures_decide + 1
        self._state: State = "closed"
        self._under_way = 0
        self._openings = 0
        self._open_until = 0.0
        self._not_before = 0.0
        self._trial = 0
        self._trials_begun = self._trials_succeeded = 0
        self._trials_failed: set[object] = set()
        self._why = ""
        self._failures: dict[object, Ask] = {}
        self._success: Ask | None = None
        self._figures = (0, 0, 0)
        self._to_report = False

    @property
    def state(self) -> State:
        """An open breaker is half-open once its time is over."""
        if self._state == "open" and self._clock() >= self._open_until:
            self._half_open()
        return self._state

    @property
    def is_idle(self) -> bool:
        """Whether it knows nothing that a new one would not: closed, with nothing under way or in the window."""
        if self._state != "closed" or self._under_way:
            return False
        self._window.forget_before(self._clock() - self._window_s)
        return not self._window.requests

    @property
    def may_begin(self) -> bool:
        """Whether `begin` would give permission now."""
        state = self.state
        return state == "closed" or (state == "half-open" and self._trials_begun < self._settings.trial_requests)

    def begin(self, ask: Ask) -> Pass | None:
        """Permission for a request, which `end` or `abandon` has to follow; None while it is open or its trials are
        out.
        """
        if not self.may_begin:
            return None
        self._under_way += 1
        if self._state == "closed":
            return Pass(ask)
        self._trials_begun += 1
        return Pass(ask, self._trial)

    def end(self, passed: Pass, answer: Answer) -> None:
        """The request of a pass has ended with this answer."""
        now = self._clock()
        self._under_way -= 1
        self._window.add(now, passed.ask, failed=answer.failed)
        self._window.forget_before(now - self._window_s)
        if answer.failed:
            self._why = answer.why
            subject = self._window.subject(passed.ask)
            self._failures.pop(subject, None)
            self._failures[subject] = passed.ask
            if len(self._failures) > KEPT_FAILURES:
                del self._failures[next(iter(self._failures))]
            # A bound: an upstream that asks for a year must not get it.
            self._not_before = max(self._not_before, now + min(answer.retry_after_s or 0.0, self._cap_s))
        else:
            self._success = passed.ask
        if passed.trial is None:
            self._judge_window()
        elif self._state == "half-open" and passed.trial == self._trial:
            self._judge_trial(passed.ask, failed=answer.failed)

    def abandon(self, passed: Pass) -> None:
        """The request of a pass has ended, and says nothing about the upstream."""
        self._under_way -= 1
        if self._state == "half-open" and passed.trial == self._trial:
            self._trials_begun -= 1

    def new_task(self, *, may_try: bool = True) -> None:
        """A task begins: the driver has found that it `may_try` again, or knows of no outage."""
        self._to_report = False
        if self._state == "open" and may_try:
            self._half_open()

    def opened(self) -> Opened | None:
        """The report for the driver: the breaker opened in this task, and no request has succeeded since."""
        if not self._to_report:
            return None
        asks = tuple(reversed(self._failures.values()))
        remaining_s = max(0.0, self._not_before - self._clock())
        requests, failed, wikis = self._figures
        return Opened(self.scope, requests, failed, self._why, asks, self._success, remaining_s, wikis)

    @property
    def _cap_s(self) -> float:
        return self._settings.open_for_cap.total_seconds()

    def _judge_window(self) -> None:
        window, settings = self._window, self._settings
        if (
            self._state == "closed"
            and window.requests >= settings.minimum_requests
            and window.failed >= settings.failure_rate * (window.requests + self._under_way)
            and window.is_broad
        ):
            self._open()

    def _judge_trial(self, ask: Ask, *, failed: bool) -> None:
        if failed:
            subject = self._window.trial_subject(ask)
            # One wiki that fails does not speak for the endpoint twice.
            self._trials_begun -= subject in self._trials_failed
            self._trials_failed.add(subject)
        else:
            self._trials_succeeded += 1
            self._to_report = False
        if len(self._trials_failed) >= self._failures_decide:
            self._open()
        elif self._trials_succeeded >= self._successes_decide:
            self._state, self._openings = "closed", 0
            self._window.clear()

    def _open(self) -> None:
        window = self._window
        self._state, self._figures, self._to_report = "open", (window.requests, window.failed, window.failing), True
        open_for_s = self._settings.open_for.total_seconds() * 2 ** min(self._openings, 30)
        self._openings += 1
        self._open_until = max(self._clock() + min(open_for_s, self._cap_s), self._not_before)

    def _half_open(self) -> None:
        self._state = "half-open"
        self._trial += 1
        self._trials_begun = self._trials_succeeded = 0
        self._trials_failed = set()
