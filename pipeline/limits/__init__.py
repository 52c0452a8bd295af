"""What Kafka's parts take at most, and where they disagree: said at the start, before an event finds out."""
