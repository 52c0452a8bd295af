"""The enrichment pipeline: page change events in, events with HTML and diff out, on Spark Structured Streaming."""
