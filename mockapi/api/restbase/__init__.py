"""RESTBase, the service that had `/api/rest_v1` before the gateway."""
