"""Whether the wikis' operators can reach who runs the job, as Wikimedia's User-Agent policy asks."""

from pipeline import log
from pipeline.config.address import is_loopback
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import ContactMissing


def warn_without_contact(config: PipelineConfig) -> None:
    """Log where they cannot. A mock on this machine needs no contact."""
    if config.mediawiki.contact is None and not is_loopback(config.mediawiki.endpoint):
        log.say(
            ContactMissing(
                endpoint=config.mediawiki.endpoint,
                hint="set mediawiki.contact to a mail address or a page: Wikimedia's User-Agent policy asks for one, "
                "and requests without may be refused",
            )
        )
