"""Why the proxy's process refuses what it is asked; `devkit.proxy.control` makes answers of these."""


class RefusedError(Exception):
    """The message says what was asked and why it cannot be."""


class UnknownNameError(RefusedError):
    """No listener or toxic of that name."""


class TakenError(RefusedError):
    """A name or a port that is in use."""


class WrongLayerError(RefusedError):
    """A toxic for bytes on a listener for requests, or the other way round."""
