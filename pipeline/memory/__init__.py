"""Memory from one number: what of a container's limit goes to whom, so that together they never exceed it."""
