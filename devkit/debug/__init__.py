"""What a person does with a stack that is up: put faults in, look at topics and lag, attach a debugger."""
