"""What every room reads from people in the same way: quantities in one dialect, and errors with the place they are at.

    duration, size, rate, share    quantities as text: parser, formatter, type for a model, pattern for a JSON schema
    schema                         the JSON schema of a model with quantities
    yaml_file, place               a document that knows where its values stand
    count                          a number with its noun, `1 fault`
    problem, model_keys, near      a failed validation as place, what is wrong, and what to do about it
    registry, extension            named things of a kind, and the user's own Python that adds to them

It imports none of the other rooms, and travels with each of them that is deployed alone.
"""
