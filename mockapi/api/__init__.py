"""Routes: MediaWiki's REST API and Action API, the gateway in front of them, and RESTBase as it was."""
