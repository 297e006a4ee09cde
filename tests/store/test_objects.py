"""Objects of a real interface of S3: what is written whole is there, whatever happens on the way."""

import logging
import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.store.server import CREDENTIALS, Fault, Proxy
from transit_etl import setting_checks
from transit_etl.store import objects
from transit_etl.store.errors import StoreError, UnsuitableStoreError
from transit_etl.store.objects import ObjectStore

STEPS = "transit_etl.collect, transit_etl.stage, transit_etl.warehouse, transit_etl.operations"
BODY = bytes(range(256)) * 400


def once(fault: Fault, method: str, proxy: Proxy) -> None:
    """Spoil the next request of a method, and no other."""
    left = [fault]
    proxy.choose = lambda asked, _path: left.pop() if left and asked == method else None


def test_an_object_is_read_as_it_was_written(store: ObjectStore) -> None:
    assert store.get("a") is None
    etag = store.create("a", BODY)

    found = store.get("a")

    assert found is not None
    assert (BODY, etag, True) == (found.body, found.etag, found.is_whole)


def test_an_object_that_exists_is_not_created_again(store: ObjectStore) -> None:
    assert store.create("a", b"first")
    assert store.create("a", b"second") is None
    assert b"first" == getattr(store.get("a"), "body", None)


def test_an_object_is_replaced_only_as_it_was_read(store: ObjectStore) -> None:
    first = store.create("a", b"first")
    assert first
    second = store.replace("a", b"second", first)

    assert second
    assert store.replace("a", b"third", first) is None
    assert store.replace("missing", b"third", first) is None
    assert b"second" == getattr(store.get("a"), "body", None)


def test_objects_are_listed_below_a_prefix_and_after_a_key(store: ObjectStore, url: str) -> None:
    beside = ObjectStore(f"{url}-beside")
    for key in ("b/1", "b/2", "b/3", "c/1"):
        store.put(key, key.encode())
        beside.put(key, b"")

    assert ["b/1", "b/2", "b/3", "c/1"] == [each.key for each in store.listed()]
    assert ["b/2", "b/3"] == [each.key for each in store.listed("b/", after="b/1")]
    assert ["b/", "c/"] == store.folders("")
    assert [3] * 4 == [each.size_bytes for each in store.listed()]


def test_more_objects_than_one_answer_holds_are_all_listed(store: ObjectStore, proxy: Proxy) -> None:
    keys = [f"n/{number:04}" for number in range(12)]
    for key in keys:
        store.put(key, b"")
    list_page = store._files.call_s3  # noqa: SLF001
    store._files.call_s3 = lambda *words, **named: list_page(*words, **named, MaxKeys=5)  # noqa: SLF001
    before = proxy.n_requests["GET"]

    assert keys == [each.key for each in store.listed("n/")]
    assert 3 == proxy.n_requests["GET"] - before


def test_a_removed_object_is_gone_and_can_be_removed_again(store: ObjectStore) -> None:
    store.put("a", b"1")
    store.delete("a")
    store.delete("a")

    assert store.get("a") is None
    assert store.head("a") is None


@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.BUSY, Fault.TEAR_UPLOAD, Fault.DELAY])
def test_an_upload_that_fails_once_is_sent_again(store: ObjectStore, proxy: Proxy, fault: Fault) -> None:
    once(fault, "PUT", proxy)
    assert store.create("a", BODY)

    assert 1 == proxy.n_faults[fault]
    assert BODY == getattr(store.get("a"), "body", None)


def test_a_torn_upload_leaves_no_object(store: ObjectStore, proxy: Proxy) -> None:
    proxy.choose = lambda method, _path: Fault.TEAR_UPLOAD if method == "PUT" else None
    with pytest.raises(StoreError, match="cannot be used"):
        store.create("a", BODY)

    assert objects.N_ATTEMPTS <= proxy.n_faults[Fault.TEAR_UPLOAD]
    assert store.get("a") is None


def test_a_write_whose_answer_is_lost_is_refused_the_second_time(store: ObjectStore, proxy: Proxy) -> None:
    once(Fault.LOSE_ANSWER, "PUT", proxy)

    assert store.create("a", BODY) is None
    assert BODY == getattr(store.get("a"), "body", None)


@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.BUSY, Fault.TEAR_DOWNLOAD])
def test_a_download_that_fails_once_is_asked_for_again(
    store: ObjectStore, proxy: Proxy, fault: Fault
) -> None:
    store.put("a", BODY)
    once(fault, "GET", proxy)

    assert BODY == getattr(store.get("a"), "body", None)
    assert 1 == proxy.n_faults[fault]


def test_a_download_that_always_breaks_off_is_an_error(store: ObjectStore, proxy: Proxy) -> None:
    store.put("a", BODY)
    proxy.choose = lambda method, _path: Fault.TEAR_DOWNLOAD if method == "GET" else None

    with pytest.raises(StoreError, match="cannot be used"):
        store.get("a")


def test_an_absent_store_is_named_within_seconds_and_without_a_credential(
    store: ObjectStore, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    proxy.choose = lambda _method, _path: Fault.REFUSE
    began = time.monotonic()
    with pytest.raises(StoreError) as error:
        store.get("a")

    assert 3 * objects.CONNECT_SECONDS * objects.N_ATTEMPTS > time.monotonic() - began
    assert store.url in str(error.value)
    assert 1 == len(str(error.value).splitlines())
    assert not any(secret in caplog.text + str(error.value) for secret in CREDENTIALS.values())


@pytest.mark.parametrize("step", ["get", "create"])
def test_a_store_that_is_silent_is_waited_for_only_so_long(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    assert proxy.target
    monkeypatch.setattr(objects, "READ_SECONDS", 0.3)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        store = ObjectStore("s3://bucket/x")
        with pytest.raises(StoreError, match="Read timeout"):
            getattr(store, step)(*{"get": ("a",), "create": ("a", BODY)}[step])


def test_a_store_without_the_bucket_is_an_error(proxy: Proxy) -> None:
    assert proxy.target
    with pytest.raises(StoreError, match="bucket does not exist"):
        ObjectStore("s3://nobody-made-it").get("a")


def test_a_store_that_honours_conditions_is_taken_again_and_again(store: ObjectStore) -> None:
    store.require_conditions("m")
    store.require_conditions("m")

    assert ["probes/m"] == [each.key for each in store.listed()]


@pytest.mark.parametrize("ignored", ["IfNoneMatch", "IfMatch"])
def test_a_store_that_ignores_conditions_is_refused(store: ObjectStore, ignored: str) -> None:
    call = store._files.call_s3  # noqa: SLF001

    def without_condition(method: str, **named: object) -> object:
        named.pop(ignored, None)
        return call(method, **named)

    store._files.call_s3 = without_condition  # noqa: SLF001
    with pytest.raises(UnsuitableStoreError, match="two hosts could overwrite each other"):
        store.require_conditions("m")


def test_steps_start_without_the_packages_of_the_extra() -> None:
    code = f"import sys, {STEPS}; print(sorted({{'s3fs', 'botocore', 'aiohttp'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.splitlines()[0]


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setting_checks, "find_spec", lambda _name: None)
    with pytest.raises(ValueError, match=r"pip install 'transit-etl\[store\]'"):
        setting_checks.lake_url("s3://bucket/prefix")


def test_a_place_in_a_store_may_end_in_a_slash() -> None:
    assert "s3://bucket/a/b=c" == setting_checks.lake_url("s3://bucket/a/b=c/")


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
@pytest.mark.parametrize("address", ["store.example:9000", "store", "ftp://store.example", "http://"])
def test_an_endpoint_that_is_no_address_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(name, address)

    with pytest.raises(StoreError, match=f"the variable {name} must "):
        ObjectStore("s3://bucket")


@pytest.mark.parametrize(("name", "value"), [("AWS_DEFAULT_REGION", "no region"), ("AWS_PROFILE", "nobody")])
def test_a_variable_that_the_library_of_the_store_refuses_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    for each in CREDENTIALS:
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, value)

    with pytest.raises(StoreError):
        ObjectStore("s3://bucket").get("a")
