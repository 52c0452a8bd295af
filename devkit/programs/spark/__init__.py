"""The pipeline room on Spark: as a scenario, `devkit up`, the training of the class cache and tests start it."""
