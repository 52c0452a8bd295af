"""The configuration: one module a section; `pipeline.config.pipeline_config` puts them together."""
