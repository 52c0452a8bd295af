"""What a start logs about a valid configuration, as it is most likely not what was meant."""

from collections.abc import Iterator

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.section import is_loopback, repeated_servers
from pipeline.events import BrokersRepeated, ContactMissing


def start_warnings(config: PipelineConfig) -> Iterator[BrokersRepeated | ContactMissing]:
    """The events to log."""
    for section, servers in (("source", config.source.bootstrap_servers), ("sink", config.sink.bootstrap_servers)):
        if repeated := repeated_servers(servers):
            setting = f"{section}.bootstrap_servers"
            yield BrokersRepeated(
                setting=setting,
                brokers=tuple(repeated),
                hint=f"{setting} has {', '.join(repeated)} more than once: remove it, or write the broker that was "
                "meant",
            )
    # A mock on this machine needs no contact.
    if config.mediawiki.contact is None and not is_loopback(config.mediawiki.endpoint):
        yield ContactMissing(
            endpoint=config.mediawiki.endpoint,
            hint="set mediawiki.contact to a mail address or a page: Wikimedia's User-Agent policy asks for one, and "
            "requests without may be refused",
        )
