"""Where a program finds the parts of a running stack."""

from collections.abc import Mapping

from devkit.programs.places import Places, StorePlace
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack


def stack_places(
    stack: Stack, checkpoint: str, *, claim_prefix: str | None = None, wikis: Mapping[str, str] | None = None
) -> Places:
    """`checkpoint` is the prefix of its checkpoint in the bucket of checkpoints; `claim_prefix` that of its claim
    checks, None for the job's own.
    """
    store = stack.triple_store
    return Places(
        bootstrap=stack.kafka.bootstrap,
        mock_endpoint=stack.mock_api.endpoint,
        s3_endpoint=stack.object_store.endpoint,
        checkpoint=f"s3a://{CHECKPOINTS}/{checkpoint}",
        claim_bucket=CLAIM_CHECKS,
        claim_prefix=claim_prefix,
        wikis=wikis or {},
        triple_store=StorePlace(store.query, store.update, store.login) if store else None,
    )
