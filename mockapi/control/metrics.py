"""`/metrics`: the figures of the current world, in Prometheus' text format or OpenMetrics.

They are read for each scrape and cost nothing else. Counters begin at 0 again when the journal is emptied or another
state is set, as with a process that restarts. Labels are few: parts of the API, statuses and the names of rules.
"""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from mockapi.journal.tally import Counts
from mockapi.world import World, Worlds


class Metrics:
    """Figures of the current world and of this process, for Prometheus."""

    def __init__(self, worlds: Worlds) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_WorldCollector(worlds))
        ProcessCollector(registry=self._registry)

    def text(self, accept: str) -> tuple[bytes, str]:
        """The figures and their content type, which depends on the Accept header."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _WorldCollector(Collector):
    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    def collect(self) -> Iterator[Metric]:
        world = self._worlds.current
        counts = world.journal.counts(world.rule_names)
        yield from _requests(world, counts)
        yield from _rules(world, counts)
        yield from _upstream(world)


def _requests(world: World, counts: Counts) -> Iterator[Metric]:
    totals = world.journal.totals()
    requests = CounterMetricFamily("mockapi_requests", "Requests that ended.", labels=["route", "status"])
    for (route, status), number in sorted(totals.by_route.items()):
        requests.add_metric([route, status], number)
    yield requests
    # The last bound of the journal also counts what took longer.
    bounds = [*(f"{bound}" for bound in counts.latency.le_s[:-1]), "+Inf"]
    buckets = list(zip(bounds, accumulate(counts.latency.counts), strict=True))
    yield HistogramMetricFamily(
        "mockapi_request_duration_seconds",
        "From a request's first byte to the end of its answer.",
        buckets=buckets,
        sum_value=totals.duration_s,
    )
    yield GaugeMetricFamily("mockapi_requests_in_flight", "Requests that have not ended.", counts.in_flight)
    yield CounterMetricFamily("mockapi_wire_bytes", "Bytes of bodies handed to sockets.", totals.wire_bytes)
    yield CounterMetricFamily("mockapi_real_bytes", "Bytes of bodies before content coding.", totals.real_bytes)
    yield GaugeMetricFamily("mockapi_journal_entries", "Entries that the journal keeps.", world.journal.size)


def _rules(world: World, counts: Counts) -> Iterator[Metric]:
    met = CounterMetricFamily("mockapi_rule_requests", "Requests that a rule met.", labels=["rule", "status"])
    for name, rule in counts.rules.items():
        for status, number in sorted(rule.by_status.items()):
            met.add_metric([name, status], number)
    yield met
    effective = GaugeMetricFamily("mockapi_rule_effective", "Whether a rule can fire now.", labels=["rule"])
    for rule_status in world.rulebook.statuses():
        effective.add_metric([rule_status.rule.name], rule_status.phase == "effective")
    yield effective


def _upstream(world: World) -> Iterator[Metric]:
    """The rule is that of the capacity, empty for parses without one."""
    loads = world.upstream.parser.loads()
    busy = GaugeMetricFamily("mockapi_parses_busy", "Parses under way.", labels=["rule"])
    queued = GaugeMetricFamily("mockapi_parses_queued", "Parses that wait for a slot.", labels=["rule"])
    parses = CounterMetricFamily("mockapi_parses", "Parses that ended.", labels=["rule"])
    abandoned = CounterMetricFamily(
        "mockapi_parses_abandoned", "Parses whose client was gone when they ended.", labels=["rule"]
    )
    for rule, load in loads.items():
        busy.add_metric([rule], load.busy)
        queued.add_metric([rule], load.queued)
        parses.add_metric([rule], load.parses)
        abandoned.add_metric([rule], load.abandoned)
    yield from (busy, queued, parses, abandoned)
    connections = world.upstream.places.counts()
    yield CounterMetricFamily(
        "mockapi_connections", "Connections that carried a request to a wiki.", connections.opened
    )
    yield CounterMetricFamily(
        "mockapi_connections_refused", "Connections that were reset for want of a place.", connections.refused
    )
    yield GaugeMetricFamily("mockapi_connections_held", "Places for connections that are taken.", connections.held)
    tokens = GaugeMetricFamily(
        "mockapi_rate_limit_tokens", "Tokens remaining when a rule's buckets were last used.", labels=["rule"]
    )
    for rule, left in world.upstream.buckets.left().items():
        tokens.add_metric([rule], left)
    yield tokens
