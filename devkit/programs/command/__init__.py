"""Any command in place of the pipeline: configured by its environment, observed as far as it shows itself."""
