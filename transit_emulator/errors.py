"""The base class of the errors whose message is written for the user who starts the emulator."""


class EmulatorError(Exception):
    """The emulator cannot be started with what it was given; the message names it and says why."""
