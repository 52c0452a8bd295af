"""MediaWiki's REST API: `/w/rest.php/v1` and `/w/rest.php/content/v1`."""
