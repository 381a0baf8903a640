"""The two ways in which a request can fail, each with one plain sentence."""


class BadInput(ValueError):
    """What was asked for cannot be done; the message says what was expected."""


class RunFailed(RuntimeError):
    """A run that was asked for correctly did not finish."""
