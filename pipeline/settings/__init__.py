"""The sections of a pipeline's configuration, one module a subject; `pipeline.config` puts them together."""
