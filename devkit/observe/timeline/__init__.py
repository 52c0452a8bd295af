"""The timeline of a run, the events that the kit writes into it, and where the time of the run goes."""
