"""What an operator does to a job that runs or has stopped, from outside of its process."""
