#!/bin/sh
# Makes the database at the first start, as root; then runs the server as its own user.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
export PATH PGDATA=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
    install -m 0600 -o postgres "$POSTGRES_PASSWORD_FILE" /run/postgresql/password
    chown postgres "$PGDATA"
    exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
    initdb --encoding=UTF8 --auth=scram-sha-256 --auth-local=trust --username="$POSTGRES_USER" \
        --pwfile=/run/postgresql/password
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    pg_ctl --wait --options="-c listen_addresses=" start
    createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    cat /docker-entrypoint-initdb.d/*.sql | psql --username="$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl --wait stop
fi
exec postgres -c "listen_addresses=*"
