"""A client of the mock's control interface, for tests and for the kit."""
