"""Kafka as the job reaches it: clusters, sink, limits, and what clients of it have to get over."""
