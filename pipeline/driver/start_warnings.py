"""What a start logs about a valid configuration, as it is most likely not what was meant."""

from collections.abc import Iterator

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.section import is_loopback
from pipeline.events import ContactMissing


def start_warnings(config: PipelineConfig) -> Iterator[ContactMissing]:
    """The events to log."""
    # A mock on this machine needs no contact.
    if config.mediawiki.contact is None and not is_loopback(config.mediawiki.endpoint):
        yield ContactMissing(
            endpoint=config.mediawiki.endpoint,
            hint="set mediawiki.contact to a mail address or a page: Wikimedia's User-Agent policy asks for one, and "
            "requests without may be refused",
        )
