"""What Spark calls in its Python workers: the task, and the engine that fetches in order."""
