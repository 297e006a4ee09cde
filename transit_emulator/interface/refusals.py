"""The errors of a caller, each with the HTTP status of its answer."""


class RefusedError(Exception):
    """A request that gets an error answer; the message is shown to the caller."""

    status = 400

    def __init__(self, message: str, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class BadRequestError(RefusedError):
    """A date, an instant or a code that cannot be read."""


class UnauthorizedError(RefusedError):
    """A token is missing where one is needed, or is not valid."""

    status = 401


class UnknownError(RefusedError):
    """A line or news item that does not exist."""

    status = 404


class TooManyRequestsError(RefusedError):
    """The caller's allowance is used up."""

    status = 429
