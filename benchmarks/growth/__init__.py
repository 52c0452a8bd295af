"""What grows with what. Rate with partitions and requests in flight, time with the backlog and the ledger."""
