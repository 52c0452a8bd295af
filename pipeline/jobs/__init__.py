"""The jobs: what each does with one event. The engine that runs them knows nothing of HTML."""
