"""Routes: MediaWiki's REST API, and the control of the mock."""
