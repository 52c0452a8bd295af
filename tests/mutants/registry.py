"""The pipeline's twelve rules, and for each at least one way to lose it."""

from collections.abc import Mapping

from tests.mutants.model import Mutant, Process, Replacement

RULES: Mapping[int, str] = {
    1: "size is that of the record to be produced",
    2: "what is too large is not lost",
    3: "error events are bounded",
    4: "one deadline for a record; a status is retried only where it helps",
    5: "no record holds a micro-batch for long",
    6: "a page's events leave in source order",
    7: "work under way is bounded by requests and by bytes, for the executor as a whole",
    8: "a repeated output is identical",
    9: "the start position is explicit",
    10: "memory comes from one number",
    11: "the effective configuration is printed; a metric's name is used once",
    12: "an event chooses no host",
}

_DAY = "tests/integration/rules/test_rules.py"
_PROCESS = "tests/integration/test_pipeline_process.py"
_OUTAGE = "tests/integration/test_breaker.py::test_an_outage_is_a_wait_and_not_a_copy_of_the_source"
_GRAIN = "tests/integration/test_breaker_grain.py"
_REFUSED = "tests/integration/test_refused_records.py"
_STORE_DOWN = "tests/integration/test_claim_store_down.py"
_WORKER: frozenset[Process] = frozenset({"worker"})
_DRIVER: frozenset[Process] = frozenset({"driver"})

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        rule=1,
        what="the record's headers are not counted",
        replacements=(
            Replacement(
                "pipeline/records/size.py", "    for name, content in headers:\n", "    for name, content in ():\n"
            ),
        ),
        test=f"{_DAY}::test_a_record_over_the_producers_limit_by_its_headers_alone_goes_by_claim_check",
        says=r"RecordTooLargeException|\d+ bytes",
        where=_WORKER,
    ),
    Mutant(
        rule=1,
        what="the content is measured by its Content-Length",
        replacements=(
            Replacement("pipeline/jobs/enrichment.py", 'if limit.measure == "decoded" else', "if False else"),
        ),
        test=f"{_DAY}::test_content_is_measured_decoded_and_not_by_its_content_length",
        says="it went inline",
        where=_WORKER,
    ),
    Mutant(
        rule=1,
        what="a record without content is produced whatever its size",
        replacements=(
            Replacement("pipeline/jobs/enrichment.py", "        if self._record_is_over(record):", "        if False:"),
        ),
        test=f"{_DAY}::test_an_event_too_large_without_content_ends_as_an_error_event",
        says="RecordTooLargeException",
        where=_WORKER,
    ),
    Mutant(
        rule=2,
        what="the event does not say where its payload is",
        replacements=(
            Replacement("pipeline/jobs/enrichment.py", "record.headers + claim.headers()", "record.headers"),
        ),
        test=f"{_DAY}::test_what_is_too_large_is_in_the_store_whole_and_the_event_refers_to_it",
        says="the event does not say where its payload is",
        where=_WORKER,
    ),
    Mutant(
        rule=2,
        what="a record that is too large is given up",
        replacements=(
            Replacement(
                "pipeline/jobs/enrichment.py",
                "                claim = await self._claims.keep(part.value,",
                '                return self.error(message, Failure("record_too_large", "it was too large"))\n'
                "                claim = await self._claims.keep(part.value,",
            ),
        ),
        test=f"{_DAY}::test_what_is_too_large_is_in_the_store_whole_and_the_event_refers_to_it",
        says="the event was given up",
        where=_WORKER,
    ),
    Mutant(
        rule=3,
        what="the error event quotes the whole message",
        replacements=(
            Replacement(
                "pipeline/records/page_change.py",
                'excerpt = (value or b"")[:_EXCERPT_BYTES]',
                'excerpt = (value or b"")',
            ),
            Replacement("pipeline/records/error_event.py", "{bounded_message(failure.message)}", "{failure.message}"),
        ),
        test=f"{_DAY}::test_an_error_event_is_small_whatever_it_is_about",
        says="RecordTooLargeException",
        where=_WORKER,
    ),
    Mutant(
        rule=4,
        what="each request has a deadline of its own",
        replacements=(
            Replacement(
                "pipeline/fetch/deadline.py",
                "return self._limit_s if self._ends is None else self._ends - self._clock()",
                "return self._limit_s",
            ),
        ),
        test=f"{_DAY}::test_all_requests_for_a_record_share_one_deadline",
        says="beyond the allowance",
        where=_WORKER,
    ),
    Mutant(
        rule=4,
        what="504 is retried inline",
        replacements=(
            Replacement(
                "pipeline/fetch/client.py",
                "if status in self._config.fetch.retried_statuses:",
                "if status in (*self._config.fetch.retried_statuses, 504):",
            ),
        ),
        test=f"{_DAY}::test_a_gateways_timeout_is_not_asked_again_inline",
        says="504 was retried inline",
        where=_WORKER,
    ),
    Mutant(
        rule=4,
        what="Retry-After is not obeyed",
        replacements=(Replacement("pipeline/fetch/client.py", "(retry_after_s or 0.0) + ", ""),),
        test=f"{_DAY}::test_a_pause_that_is_asked_for_is_kept",
        says="asked again after",
        where=_WORKER,
    ),
    Mutant(
        rule=5,
        what="the inline allowance is not applied",
        replacements=(
            Replacement(
                "pipeline/worker/spark_task.py",
                "limit_s = min(policy.inline_allowance_s, config.fetch.deadline.total_seconds())",
                "limit_s = config.fetch.deadline.total_seconds()",
            ),
        ),
        test=f"{_DAY}::test_a_page_that_hangs_holds_no_batch",
        says="the batch waited for the page that hangs",
        where=_WORKER,
    ),
    Mutant(
        rule=5,
        what="a breaker never opens",
        replacements=(
            Replacement(
                "pipeline/fetch/breaker.py",
                "            and window.failed >= settings.failure_rate * (window.requests + self._under_way)",
                "            and False",
            ),
        ),
        test=_OUTAGE,
        says="a wiki that is down was asked on and on",
        where=_WORKER,
    ),
    Mutant(
        rule=5,
        what="the main lane does not wait for a breaker that is open",
        replacements=(
            Replacement("pipeline/deferral/lanes.py", "if not self._ledger.exceeds(share, wikis):", "if True:"),
        ),
        test=_OUTAGE,
        says="a batch was begun while the breaker was open",
        where=_DRIVER,
    ),
    Mutant(
        rule=5,
        what="one wiki that is down stops all others",
        replacements=(
            Replacement("pipeline/deferral/lanes.py", "if not self._ledger.exceeds(share, wikis):", "if not wikis:"),
        ),
        test=f"{_GRAIN}::test_one_wiki_that_is_down_stops_no_other",
        says="all wikis waited for one that is down",
        where=_DRIVER,
    ),
    Mutant(
        rule=5,
        what="small wikis that are down together open no breaker",
        replacements=(
            Replacement(
                "pipeline/fetch/breaker.py", "            and window.is_broad\n", "            and self.scope\n"
            ),
        ),
        test=f"{_GRAIN}::test_many_small_wikis_that_are_down_are_an_outage_of_the_endpoint",
        says="small wikis that are down together were asked on and on",
        where=_WORKER,
    ),
    Mutant(
        rule=5,
        what="a wiki that answers its probe stays open",
        replacements=(
            Replacement(
                "pipeline/deferral/outages.py", "            if not answer.failed:\n", "            if False:\n"
            ),
        ),
        test=_OUTAGE,
        says="a wiki that is well was probed on and on",
        where=_DRIVER,
    ),
    Mutant(
        rule=5,
        what="a batch has no budget",
        replacements=(
            Replacement(
                "pipeline/deferral/batch_budget.py", "asyncio.timeout(self.remaining_s())", "asyncio.timeout(None)"
            ),
        ),
        test=f"{_STORE_DOWN}::test_a_batch_over_its_budget_goes_on_without_what_it_still_holds[keep]",
        says="beyond its budget",
        where=_WORKER,
    ),
    Mutant(
        rule=6,
        what="what is done first leaves first",
        replacements=(
            Replacement(
                "pipeline/worker/engine.py",
                "outcome = await process(message)\n                if before is not None:",
                "outcome = await process(message)\n                if False:",
            ),
        ),
        test=f"{_DAY}::test_events_of_a_page_leave_in_their_order_and_each_once",
        says="overtook each other",
        where=_WORKER,
    ),
    Mutant(
        rule=6,
        what="events pass those of their page that were deferred in earlier batches",
        replacements=(
            Replacement(
                "pipeline/deferral/lane.py", "blocked is not None and order(position)", "False and order(position)"
            ),
        ),
        test=f"{_DAY}::test_events_of_a_page_leave_in_their_order_and_each_once",
        says="overtook each other",
        where=_WORKER,
    ),
    Mutant(
        rule=6,
        what="a page with several events goes through Spark's sink, which goes on behind a record that is refused",
        replacements=(
            Replacement(
                "pipeline/worker/spark_task.py",
                "return rewound, lambda page: events[page] > 1",
                "return rewound, lambda page: False",
            ),
        ),
        test=f"{_REFUSED}::test_no_record_of_a_page_lands_before_one_that_is_refused[main lane]",
        says="out of order: page",
        where=_WORKER,
    ),
    Mutant(
        rule=7,
        what="each worker has the executor's whole bound",
        replacements=(Replacement("pipeline/fetch/worker_bounds.py", "bound // workers", "bound"),),
        test=f"{_DAY}::test_bounds_are_those_of_the_executor_as_a_whole",
        says="each worker has the whole bound",
        where=_DRIVER,
    ),
    Mutant(
        rule=7,
        what="bytes in memory are counted and not bounded",
        replacements=(
            Replacement("pipeline/fetch/in_flight.py", "self.memory_bytes + count > self._limit_bytes", "False"),
            Replacement(
                "pipeline/fetch/in_flight.py",
                "memory_is_open and self.memory_bytes + unspool_bytes <= self._limit_bytes",
                "True",
            ),
        ),
        test="tests/integration/test_fetch_bounds.py::test_large_pages_at_once_are_in_memory_within_the_bound",
        says="more in memory than the bound allows",
        where=_DRIVER,
    ),
    Mutant(
        rule=8,
        what="an output's id is random",
        replacements=(
            Replacement("pipeline/records/output.py", "uuid.uuid5(namespace, event.event_id)", "uuid.uuid4()"),
        ),
        test="tests/integration/test_metrics_and_consumer.py::test_a_replay_is_seen_and_removed",
        says="repeats are not known by their ids",
        where=_WORKER,
    ),
    Mutant(
        rule=9,
        what="a missing checkpoint is no error",
        replacements=(Replacement("pipeline/config/start_position.py", "if new is None and not exists:", "if False:"),),
        test=f"{_PROCESS}::test_a_missing_checkpoint_is_refused_with_the_choices",
        says="it goes on without a position",
        where=_DRIVER,
    ),
    Mutant(
        rule=9,
        what="a new start goes on from the checkpoint that is there",
        replacements=(Replacement("pipeline/config/start_position.py", "if new is not None and exists:", "if False:"),),
        test=f"{_PROCESS}::test_an_existing_checkpoint_refuses_a_new_start_and_graceful_stop_is_exit_0",
        says="it began all the same",
        where=_DRIVER,
    ),
    Mutant(
        rule=10,
        what="what is derived from the limit is printed, and not applied",
        replacements=(
            Replacement("pipeline/memory/budget.py", "return Budget(applied(config, plan), ", "return Budget(config, "),
        ),
        test=f"{_DAY}::test_memory_comes_from_the_limit",
        says="what is effective is not what the limit leaves",
        where=_DRIVER,
    ),
    Mutant(
        rule=10,
        what="a heap that is given elsewhere may be more than the limit leaves",
        replacements=(
            Replacement("pipeline/memory/spark.py", "    if wrong:\n", "    if False:\n"),
            Replacement("pipeline/memory/budget.py", "    if heap_bytes > plan.heap + _ROUNDING:\n", "    if False:\n"),
        ),
        test=f"{_PROCESS}::test_memory_that_is_given_elsewhere_and_is_more_than_the_limit_leaves_is_refused",
        says="it began all the same",
        where=_DRIVER,
    ),
    Mutant(
        rule=11,
        what="two metrics of one name are not refused",
        replacements=(
            Replacement("pipeline/metrics/registry.py", 'elif settings.on_collision == "refuse":', "elif False:"),
        ),
        test=f"{_PROCESS}::test_a_metrics_name_used_twice_is_refused",
        says="it began all the same",
        where=_DRIVER,
    ),
    Mutant(
        rule=11,
        what="the configuration is not said",
        replacements=(Replacement("pipeline/__main__.py", "log.emit(Configuration(", "repr(Configuration("),),
        test=f"{_DAY}::test_the_configuration_in_force_is_said_before_all_else",
        says="the configuration is not said",
        where=_DRIVER,
    ),
    Mutant(
        rule=12,
        what="the host is the domain that the event names",
        replacements=(
            Replacement(
                "pipeline/fetch/client.py",
                "self._hosts.host_of(wiki_id)",
                "(self._hosts.host_of(wiki_id) or wiki_id)",
            ),
            Replacement(
                "pipeline/jobs/html.py",
                "self._client.fetch(\n                event.wiki_id,",
                "self._client.fetch(\n                event.domain,",
            ),
        ),
        test=f"{_DAY}::test_an_event_chooses_no_host",
        says="an event's host was asked",
        where=_WORKER,
    ),
)
