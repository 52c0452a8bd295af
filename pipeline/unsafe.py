"""Policies that exist only because an incident had them; a pipeline runs with one only under `--allow-unsafe`.

- `content_limit.measure: content_length`: the limit believes the Content-Length header. Of a gzip answer that is the
  compressed length, so a page of tens of megabytes passes a limit of 18 MiB (T421216).
- `record_limit.policy: none`: only the producer measures the record, and its refusal ends the query; the
  restart replays the same offsets and meets the same record, for ever (T421216).
- `504` among `fetch.retried_statuses`: a gateway's timeout says that the upstream is still at work; each retry makes
  it begin once more, so load rises as success falls (T421216).
- `fetch.retry_budget: none`: every record may use all its requests, however many others fail at the same time.
- `batch.isolation: mini_batch`: a group of records waits for its slowest, and the next group for the group.
- `deferral.policy: none`: a record that takes long holds its micro-batch, and nothing commits meanwhile.
- `metrics.on_collision: drop`: of two metrics with one name only the first is reported, silently.
"""

from http import HTTPStatus

from pipeline.config import PipelineConfig


def unsafe_settings(config: PipelineConfig) -> list[str]:
    """The effective settings that are unsafe, as `key: value`."""
    found = []
    if config.content_limit.measure == "content_length":
        found.append("content_limit.measure: content_length")
    if config.record_limit.policy == "none":
        found.append("record_limit.policy: none")
    if HTTPStatus.GATEWAY_TIMEOUT in config.fetch.retried_statuses:
        found.append("fetch.retried_statuses: 504")
    if config.fetch.retry_budget == "none":
        found.append("fetch.retry_budget: none")
    if config.batch.isolation == "mini_batch":
        found.append("batch.isolation: mini_batch")
    if config.deferral.policy == "none":
        found.append("deferral.policy: none")
    if config.metrics.on_collision == "drop":
        found.append("metrics.on_collision: drop")
    return found
