"""The aligned source: several topics and partitions, read together in event time."""
