"""What leaves the pipeline: enriched events, bounded error events, claim checks, and the size of each."""
