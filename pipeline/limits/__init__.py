"""What Kafka's parts take at most, and where they disagree: logged at the start, before an event is refused."""
