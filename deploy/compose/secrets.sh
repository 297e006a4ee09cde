#!/bin/sh
# Makes the secrets of compose.yaml, each in a file that root and the group of the containers may read. What there is stays.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
cd secrets
GROUP=10001 # of the user in deploy/container/Containerfile

random() { head -c "${1:-32}" /dev/urandom | base64 -w 0 | tr '+/' '-_'; }
password() { random "$@" | tr -d '='; }
write() { # the file, from standard input, in one step and only where there is none
    if [ -e "$1" ]; then cat >/dev/null; return; fi
    printf '%s' "$(cat)" >"$1.part" # no line break at the end: Airflow would take it for a part of the secret
    chgrp "$GROUP" "$1.part"
    chmod 0640 "$1.part"
    mv "$1.part" "$1"
}

password | write postgresql_password
[ -e redis.conf ] || echo "requirepass $(password)" | write redis.conf
random | write fernet_key
password 64 | write jwt_secret
password | write api_secret_key
[ -e passwords.json ] || echo "{\"admin\": \"$(password)\"}" | write passwords.json
database="transit:$(cat postgresql_password)@postgresql"
echo "postgresql+psycopg://$database/airflow" | write sql_alchemy_conn
echo "redis://:$(cut -d ' ' -f 2 redis.conf)@redis:6379/0" | write broker_url
printf '%s\n' "TRANSIT_LIMITER_URL=postgresql://$database/limiter" 'TRANSIT_TOKEN=' 'TRANSIT_ALERT_URLS=' | write transit.env
echo "secrets: the token of the interface belongs into $PWD/transit.env; the log-in is in passwords.json"
