"""What the kit fills in for a place in an operator's command or in a raw configuration."""

from devkit.programs.places import Places
from devkit.programs.program_topics import ProgramTopics


def value_of(place: str, arm: str, places: Places, topics: ProgramTopics) -> str:
    """Of those places that are known before the arm begins. Raises KeyError for any other."""
    return {
        "arm": arm,
        "checkpoint": places.checkpoint,
        "bootstrap": places.bootstrap,
        "object_store": places.s3_endpoint,
        "mock": places.mock_endpoint,
        "claim_bucket": places.claim_bucket,
        "source": topics.source,
        "output": topics.output,
        "error": topics.error,
        "deferral": topics.deferral,
    }[place]
