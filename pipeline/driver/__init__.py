"""What runs once, in the driver: the query, its batches, its checkpoint, start and stop."""
