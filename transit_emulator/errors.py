"""The base class of errors whose message is for the user who starts the emulator."""


class EmulatorError(Exception):
    """The emulator cannot use a file or an option; the message names it and the reason."""
