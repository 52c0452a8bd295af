"""Any command in place of the pipeline: told everything in its environment, seen as far as it shows itself."""
