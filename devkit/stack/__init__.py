"""The parts a scenario runs against: Kafka, object store, mock API; and how to get a set of them."""
