"""Reads and writes whole objects of a store with the interface of S3; a write may depend on what is there.

A conditional write is how two hosts never overwrite each other: the store refuses it when an object of the
name exists (`create`), or is no longer the one that was read (`replace`).
"""

import functools
import hashlib
import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import aiohttp
from aiobotocore.session import AioSession
from botocore.exceptions import BotoCoreError
from botocore.handlers import add_expect_header
from fsspec.asyn import sync
from s3fs import S3FileSystem

from transit_base.errors import first_line
from transit_etl.setting_checks import http_url
from transit_etl.store.errors import StoreError, UnsuitableStoreError

T = TypeVar("T")
# An absent store delays a step by seconds. A large object may take as long as it goes on arriving.
CONNECT_SECONDS, READ_SECONDS, N_ATTEMPTS = 3, 15, 2
_REFUSED = (409, 412)  # conflict with another write, precondition failed
_NOT_FOUND = ("NoSuchKey", "404")
_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
_SHA256 = "sha256"  # the name of our metadata
_FAILURES = (OSError, ValueError, BotoCoreError, aiohttp.ClientError)  # ValueError: a bad region or profile


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as the store lists it. `etag` is the store's name of its content."""

    key: str
    size_bytes: int
    modified_at: datetime
    etag: str


@dataclass(frozen=True, slots=True)
class Content:
    """What an object holds. `sha256` is what its writer said of it; None if it was written by others."""

    body: bytes
    etag: str
    sha256: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the content is the one that its writer sent."""
        return self.sha256 == hashlib.sha256(self.body).hexdigest()


@dataclass
class ObjectStore:
    """The objects below `s3://bucket/prefix`; their keys start after the prefix.

    Credentials come from where all programs find them: variables such as AWS_ACCESS_KEY_ID, AWS_PROFILE and
    AWS_ENDPOINT_URL, a file of the user, or the machine's role. Any thread may call. Every method raises
    StoreError when the store does not answer within seconds, or refuses.
    """

    url: str
    _files: Any = field(init=False, repr=False)
    _bucket: str = field(init=False, repr=False)
    _prefix: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in _ENDPOINTS:
            try:
                http_url(os.environ.get(name) or "http://localhost")
            except ValueError as error:
                raise StoreError(f"the variable {name} {error}, such as https://store.example:9000") from None
        self._bucket, _, prefix = self.url.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        config: dict[str, Any] = {
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"mode": "standard", "total_max_attempts": N_ATTEMPTS},
            "request_checksum_calculation": "when_required",  # others than Amazon do not know the newer ones
            "response_checksum_validation": "when_required",
        }
        if any(os.environ.get(name) for name in _ENDPOINTS):
            config["s3"] = {"addressing_style": "path"}  # a bucket has no host name of its own there
        session = AioSession()
        # A store that is silent would be waited for without an end: `100 Continue` has no timeout.
        session.unregister("before-call.s3", add_expect_header)
        self._files = S3FileSystem(
            session=session, config_kwargs=config, use_listings_cache=False, skip_instance_cache=True
        )
        self._files.retries = 1  # the library below tries again already

    def require_conditions(self, machine: str) -> None:
        """Raise UnsuitableStoreError unless the store refuses writes whose condition does not hold.

        The object that is tried is the machine's own, and stays.
        """
        key = f"probes/{machine}"
        is_honoured = not self.create(key, b"") or not self.create(key, b"")
        if not (is_honoured and not self.replace(key, b"", '"00000000000000000000000000000000"')):
            raise UnsuitableStoreError(
                f"the object store {self.url} takes writes whose condition does not hold (If-None-Match, "
                "If-Match): two hosts could overwrite each other, so it cannot hold a lake"
            )

    def get(self, key: str) -> Content | None:
        """Return what an object holds; None if there is none."""

        async def read() -> Content:
            answer = await self._files._call_s3("get_object", **self._place(key))  # noqa: SLF001 - its async form
            async with answer["Body"] as body:
                return Content(await body.read(), answer["ETag"], answer["Metadata"].get(_SHA256))

        return self._unless_missing(lambda: sync(self._files.loop, read))

    def create(self, key: str, body: bytes) -> str | None:
        """Write an object unless there is one; return its ETag, None if there is one."""
        return self._put(key, body, IfNoneMatch="*")

    def replace(self, key: str, body: bytes, etag: str) -> str | None:
        """Write an object if it is still the one of an ETag; return its new ETag, None if it is another."""
        return self._put(key, body, IfMatch=etag)

    def put(self, key: str, body: bytes) -> None:
        """Write an object whatever is there: only where the key says what it holds."""
        self._put(key, body)

    def listed(self, prefix: str = "", after: str = "") -> Iterator[StoredObject]:
        """Yield the objects whose keys begin with a prefix, sorted, from `after` on."""
        where = {"Bucket": self._bucket, "Prefix": self._prefix + prefix}
        more: dict[str, str] = {"StartAfter": self._prefix + after} if after else {}
        while True:
            page = self._tried(functools.partial(self._files.call_s3, "list_objects_v2", **where, **more))
            for each in page.get("Contents", ()):
                key = each["Key"].removeprefix(self._prefix)
                yield StoredObject(key, each["Size"], each["LastModified"], each["ETag"])
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def folders(self, prefix: str) -> list[str]:
        """List what follows a prefix up to the next slash, as one request tells it: at most a thousand."""
        page = self._tried(
            lambda: self._files.call_s3(
                "list_objects_v2", Bucket=self._bucket, Prefix=self._prefix + prefix, Delimiter="/"
            )
        )
        return [each["Prefix"].removeprefix(self._prefix) for each in page.get("CommonPrefixes", ())]

    def head(self, key: str) -> StoredObject | None:
        """Return an object without its content; None if there is none."""
        answer = self._unless_missing(lambda: self._files.call_s3("head_object", **self._place(key)))
        if answer is None:
            return None
        return StoredObject(key, answer["ContentLength"], answer["LastModified"], answer["ETag"])

    def delete(self, key: str) -> None:
        """Remove an object, if it is there."""
        self._tried(lambda: self._files.call_s3("delete_object", **self._place(key)))

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + key}

    def _put(self, key: str, body: bytes, **condition: str) -> str | None:
        """Write an object; return its ETag, None if the condition does not hold."""
        digests = {
            "ContentMD5": b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode(),
            "Metadata": {_SHA256: hashlib.sha256(body).hexdigest()},
        }
        try:
            answer = self._files.call_s3("put_object", **self._place(key), Body=body, **digests, **condition)
        except _FAILURES as error:
            is_missing = "IfMatch" in condition and _answer_to(error).code in _NOT_FOUND
            if condition and (is_missing or _answer_to(error).status in _REFUSED):
                return None
            raise self._failure(error) from error
        etag: str = answer["ETag"]
        return etag

    def _unless_missing(self, call: Callable[[], T]) -> T | None:
        try:
            return self._tried(call)
        except StoreError as error:
            if isinstance(error.__cause__, Exception) and _answer_to(error.__cause__).code in _NOT_FOUND:
                return None
            raise

    def _tried(self, call: Callable[[], T]) -> T:
        """Call; again if the answer breaks off, which the library below does not see."""
        with suppress(aiohttp.ClientPayloadError):
            return self._called(call)
        try:
            return self._called(call)
        except aiohttp.ClientPayloadError as error:
            raise self._failure(error) from error

    def _called(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except aiohttp.ClientPayloadError:
            raise
        except _FAILURES as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> StoreError:
        what = first_line(error) or type(error).__name__
        return StoreError(f"the object store {self.url} cannot be used: {what}")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the store answered to a call that failed: an HTTP status and a code, if it answered at all."""

    status: int | None = None
    code: str = ""


def _answer_to(error: BaseException) -> _Answer:
    response = getattr(error.__cause__ or error, "response", None)
    if not isinstance(response, Mapping):
        return _Answer()
    return _Answer(
        response.get("ResponseMetadata", {}).get("HTTPStatusCode"), response.get("Error", {}).get("Code", "")
    )
