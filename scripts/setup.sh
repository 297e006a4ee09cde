#!/bin/sh
# Makes .venv, installs requirements.lock and this project into it, and installs the programs that tests start.
# Packages come from the index that pip and uv are configured to use, and from Debian; nothing is configured here.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-$(command -v python3.11 || echo python3)}

say() { printf '%s\n' "setup: $*" >&2; }
is_root() { [ "$(id -u)" = 0 ]; }
quietly() { # prints what a command says only when it fails
    output=$("$@" 2>&1) || {
        printf '%s\n' "$output" >&2
        return 1
    }
}
apt_install() {
    is_root && command -v apt-get >/dev/null 2>&1 || return 1
    say "installing $* from Debian"
    quietly apt-get -qq update &&
        quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"
}
# Debian makes a database cluster and starts it with the first PostgreSQL of a machine, unless it is told not to.
install_postgresql() {
    no_cluster=/etc/postgresql-common/createcluster.d/transit-etl.conf
    is_root && mkdir -p "${no_cluster%/*}" && echo "create_main_cluster = false" >"$no_cluster" || return 1
    apt_install postgresql && installed=0 || installed=1
    rm -f "$no_cluster"
    return "$installed"
}
# Debian starts the server that it installs, and at each start of the machine; tests start their own.
install_redis() {
    apt_install redis-server || return 1
    [ ! -d /run/systemd/system ] || systemctl disable --quiet --now redis-server
}

if ! command -v "$PYTHON" >/dev/null 2>&1; then
    apt_install python3 python3-venv || { say "$PYTHON is needed: install Python 3.11 to 3.14, or name one by PYTHON=…"; exit 1; }
fi
if ! "$PYTHON" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'; then
    say "$("$PYTHON" --version) is not supported: install Python 3.11 to 3.14, or name one by PYTHON=…"
    exit 1
fi
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install python3-venv || { say "$PYTHON has no venv module: install python3-venv"; exit 1; }
    fi
    "$PYTHON" -m venv .venv
fi

say "installing requirements.lock"
# uv installs the lock, and is in it; like every package it must have one of the checksums that the lock gives.
sed -n '/^uv==/,/# via/p' requirements.lock > .venv/uv.txt
quietly .venv/bin/python -m pip install --quiet --require-hashes -r .venv/uv.txt
# uv does not read pip's settings: pass on the index and the certificates that pip is configured with.
index=${PIP_INDEX_URL:-$(.venv/bin/python -m pip config get global.index-url 2>/dev/null || true)}
if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
    export UV_DEFAULT_INDEX="$index"
fi
if [ -n "${PIP_CERT:-}" ] && [ -z "${SSL_CERT_FILE:-}" ]; then
    export SSL_CERT_FILE="$PIP_CERT"
fi
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"
.venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements.lock
.venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
# Each in a folder of its own: clients that must read the published file with an older DuckDB, and a program whose packages
# would make every start of dbt two seconds slower (rfc3987-syntax, which jsonschema imports where it is installed).
for lock in scripts/older-duckdb/*.lock scripts/*.lock; do
    folder=${lock#scripts/}
    folder=.venv/${folder%.lock}
    rm -rf "$folder"
    .venv/bin/uv pip install --quiet --python .venv/bin/python --target "$folder" --no-deps --require-hashes -r "$lock"
done

if ! command -v chromium >/dev/null 2>&1; then
    apt_install chromium || say "no chromium here: the browser tests will be skipped"
fi
if ! { command -v pg_ctl || ls /usr/lib/postgresql/*/bin/pg_ctl; } >/dev/null 2>&1; then
    install_postgresql || say "no PostgreSQL here: the tests of a request budget in PostgreSQL will be skipped"
fi
if ! command -v redis-server >/dev/null 2>&1; then
    install_redis || say "no Redis here: the test of several workers will be skipped"
fi
if ! { docker compose version || command -v docker-compose; } >/dev/null 2>&1; then
    apt_install docker-compose || say "no docker-compose here: the test of deploy/compose will be skipped"
fi
if ! { command -v podman && command -v buildah && command -v debootstrap; } >/dev/null 2>&1; then
    apt_install podman buildah debootstrap runc netavark aardvark-dns iptables ||
        say "no Podman here: the tests of containers will be skipped"
fi
if ! command -v java >/dev/null 2>&1; then
    apt_install default-jre-headless || say "no Java here: the tests of Apache Spark will be skipped"
fi
say "ready"
