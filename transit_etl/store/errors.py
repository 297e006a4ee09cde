"""The errors of the object store, each with a message for the user."""

from transit_base.errors import FinalError, TransitError


class StoreError(TransitError):
    """The object store does not answer, or refuses; the message says why. The next `sync` tries again."""


class UnsuitableStoreError(FinalError):
    """The object store lacks what the lake needs of it; the message says what."""


class NoStoreError(FinalError):
    """A command is about an object store, and the settings name none."""


class OtherServiceDaysError(FinalError):
    """The service days of an operator are read otherwise on other hosts; the message says how."""


class ManifestError(FinalError):
    """A manifest of the object store cannot be read; the message names it."""


class LostObjectError(TransitError):
    """An object that a manifest names is missing in the store, or is not the one of its checksum."""
