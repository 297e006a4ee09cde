"""Checks values of settings at the start, so that none is accepted that fails later."""

import re
from datetime import time
from functools import cache
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import available_timezones

from pydantic import SecretStr

from transit_etl.paths import NO_OPERATOR

_HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?|\[[0-9A-Fa-f:.]+\]")
_LAKE_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()=-]{1,200}){0,4}/?")
_MEANINGFUL = re.compile(r"[*?\[\]{}\\=]")  # to DuckDB, in the path of a Parquet file
_LONGEST_ADDRESS, _LONGEST_TOKEN, _LONGEST_PATH = 2000, 4096, 1024
_LONGEST_TEXT = 200
_SET_BY_CLIENT = {
    "accept", "accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade",
    "user-agent", "x-emulated-now",
}  # fmt: skip
# The parameters of libpq that may follow the address of a PostgreSQL database.
_POSTGRESQL_PARAMETERS = {
    "application_name", "channel_binding", "dbname", "gssencmode", "host", "hostaddr", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "passfile", "password", "port",
    "require_auth", "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslpassword", "sslrootcert",
    "target_session_attrs", "tcp_user_timeout", "user",
}  # fmt: skip


def http_url(url: str) -> str:
    """Return the address of an interface with a slash at its end; it holds no credential."""
    if not re.fullmatch(r"[!-~]+", url) or len(url) > _LONGEST_ADDRESS:
        raise ValueError("must be an http or https address in ASCII, without spaces")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http or https address")
    if re.search(r"[@?#\\]", url):
        raise ValueError("must hold no user, password, query or fragment")
    if re.search(r"%(?![0-9A-Fa-f]{2})|[\"<>^`{|}]", url):
        raise ValueError("must be percent-encoded where it holds other than letters, digits and -._~/")
    _check_host(parts.hostname, parts.netloc, parts.port)
    return url if url.endswith("/") else url + "/"


def contact(text: str | None) -> str | None:
    """Check an address that people write to: of e-mail, or of a page."""
    if text is None or re.fullmatch(r"[^@\s<>\"]{1,64}@[A-Za-z0-9.-]{1,255}", text):
        return text
    if re.fullmatch(r"https?://[^\s<>\"]+", text) and len(text) <= _LONGEST_ADDRESS:
        return text
    raise ValueError("must be an e-mail address or the http or https address of a page")


def version_1(url: str) -> str:
    """Check that an address is the base of version 1."""
    if not url.endswith("/api/v1/"):
        raise ValueError("must end in /api/v1/, as the interface specification gives it")
    return url


def limiter_url(secret: SecretStr | None) -> SecretStr | None:
    """Check the address of the database that holds the request budget; no message repeats any of it."""
    if secret is None:
        return None
    url = secret.get_secret_value()
    if not re.fullmatch(r"[!-~]+", url):
        raise ValueError("must be percent-encoded ASCII without spaces")
    if url.startswith("sqlite://"):
        path = url.removeprefix("sqlite:///")
        if path == url or not path.strip("/") or path.endswith(("/", ":memory:")) or re.search(r"[?#]", path):
            raise ValueError("must name a file: sqlite:////folder/budget.sqlite")
    elif url.startswith(("postgresql://", "postgresql+psycopg://")):
        _check_postgresql(url)
    else:
        raise ValueError("must begin with sqlite:/// or postgresql://")
    return secret


def _check_postgresql(url: str) -> None:
    try:
        parts = urlsplit(url)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        _check_host(parts.hostname or "localhost", parts.netloc, parts.port)
    except ValueError:
        raise ValueError("must be like postgresql://user:password@host:5432/database") from None
    unknown = {name for name, _ in parameters} - _POSTGRESQL_PARAMETERS
    if unknown or parts.fragment or not re.fullmatch(r"/[^/]+|/?", parts.path):
        raise ValueError("must hold only a database name and parameters of PostgreSQL after the host")
    if find_spec("psycopg") is None:
        raise ValueError("needs the package psycopg: run pip install 'transit-etl[postgresql]'")


def _check_host(host: str | None, netloc: str, port: int | None) -> None:
    """Check what stands between // and the path; `port` has been read, so that it is in range."""
    host_text = netloc.rpartition("@")[2]
    name = host_text.rpartition(":")[0] if port is not None else host_text
    if port == 0 or (name and not _HOST.fullmatch(name)) or host is None:
        raise ValueError("must name a host, and a port from 1 to 65535 if any")
    if name.startswith("["):
        ip_address(host)
    elif re.fullmatch(r"[0-9.]+", name):
        ip_address(name)


def zone_name(name: str) -> str:
    """Check the name of a time zone that Python and DuckDB both know."""
    if name not in _time_zones():
        raise ValueError(f"no such time zone: {name!r}")
    return name


@cache
def _time_zones() -> frozenset[str]:
    """Return the names that Python and DuckDB both know; Python looks at hundreds of files for them."""
    return frozenset(available_timezones() - {"localtime"})


def cutoff(local: time) -> time:
    """Check that a clock time has no zone of its own."""
    if local.tzinfo is not None:
        raise ValueError("must be a local time without a zone, such as 04:00")
    return local


def partition_name(name: str) -> str:
    """Check a name that becomes a part of names of folders."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        raise ValueError("must be lower-case letters, digits, '_' or '-': it names folders")
    if name == NO_OPERATOR:
        raise ValueError(f"must not be {NO_OPERATOR!r}, which stands for the files without rows in the lake")
    return name


def sendable_token(token: SecretStr | None) -> SecretStr | None:
    """Return a token without the white space around it, and none for a blank one."""
    text = token.get_secret_value().strip() if token else ""
    if not re.fullmatch(r"[!-~]*", text):
        raise ValueError("must be printable ASCII without spaces: it is sent in a header")
    if len(text) > _LONGEST_TOKEN:
        raise ValueError(f"must have {_LONGEST_TOKEN} characters at most: it is sent in a header")
    return SecretStr(text) if text else None


def token_header(name: str) -> str:
    """Check the name of a header that carries nothing else."""
    if name.lower() in _SET_BY_CLIENT:
        raise ValueError("must not be a header that every request has already")
    return name


def folder_path(folder: Path | None) -> Path | None:
    """Check that a path can be that of a folder, which need not be mounted now."""
    text = str(folder or "")
    if not text.isprintable() or len(text.encode(errors="replace")) > _LONGEST_PATH or text.startswith("~"):
        raise ValueError("must be the path of a folder, of printable characters and without ~")
    return folder


def data_folder(folder: Path) -> Path:
    """Check that a path can be that of the data folder."""
    folder_path(folder)
    if found := _MEANINGFUL.search(str(folder.absolute())):
        raise ValueError(f"must not hold {found[0]!r}: queries of the lake read it as a pattern or a column")
    try:
        if folder.exists() and not folder.is_dir():
            raise ValueError("must be a folder: a file has this name")
    except OSError as error:
        raise ValueError(f"must be the path of a folder: {error.strerror}") from error
    return folder


def lake_url(url: str | None) -> str | None:
    """Check the address of a place in an object store; return it without a slash at its end."""
    if url is None:
        return None
    if not _LAKE_URL.fullmatch(url) or re.search(r"\.\.|//|/\.{1,2}(/|$)", url.removeprefix("s3://")):
        raise ValueError("must be s3://BUCKET or s3://BUCKET/PREFIX, without a credential")
    if find_spec("s3fs") is None:
        raise ValueError("needs the package s3fs: run pip install 'transit-etl[store]'")
    return url.rstrip("/")


def spark_master(address: str) -> str:
    """Check that an address has a form that Spark takes for a master."""
    if not re.fullmatch(r"local(\[([1-9][0-9]*|\*)\])?|yarn|(spark|k8s)://[!-~]+", address):
        raise ValueError("must be local, local[N], local[*], yarn, spark://HOST:PORT or k8s://…")
    return address


def short_text(text: str | None) -> str | None:
    """Check a text that names or says something in a few words, in one line."""
    if text is not None and (not text.isprintable() or len(text) > _LONGEST_TEXT or text != text.strip()):
        raise ValueError(f"must be {_LONGEST_TEXT} printable characters at most, without spaces around them")
    return text


def alert_urls(secret: SecretStr | None) -> SecretStr | None:
    """Check addresses for messages, separated by white space; no message repeats any of them."""
    urls = secret.get_secret_value().split() if secret else []
    if any(not re.fullmatch(r"[a-z][a-z0-9+.-]*://[!-~]+", url) for url in urls):
        raise ValueError("must be addresses like mailto://… or json://…, with spaces between them")
    return secret if urls else None


def project_folder(folder: Path | None) -> Path | None:
    """Check that the folder of the settings files exists."""
    if folder is not None and not folder.is_dir():
        raise ValueError("must be a folder that exists")
    return folder


def metrics_file(path: Path | None) -> Path | None:
    """Check that Prometheus' node exporter would read a file of this name."""
    if path is not None and path.suffix != ".prom":
        raise ValueError("must end in .prom: the textfile collector of Prometheus reads no other files")
    return path


def csv_file(path: Path | None) -> Path | None:
    """Check that a path can be a reference file of judged stops or of plant; builds alone read it."""
    if path is not None and path.suffix.lower() != ".csv":
        raise ValueError("must be a CSV file (.csv)")
    return path


def stops_file(path: Path | None) -> Path | None:
    """Check that a path can be a reference file of stops; it is read by builds only."""
    if path is not None and path.suffix.lower() not in (".csv", ".txt", ".zip"):
        raise ValueError("must be a CSV file (.csv), or stops.txt or the zip of a GTFS feed")
    return path
