"""What each job has to make of an event, worked out by code that shares nothing with the job's: a file a job, and a
line in the registry.
"""
