#!/bin/sh
# A server built without its HTTP pages (MOREAU_HTTP=OFF), as who has no libwebsockets builds it: needs no such library,
# says so where the pages are wanted, and is whole without them, a certificate that is read again among it.
#   tests/pageless.sh BUILD_DIR
set -eu
build=$1
pageless=$build/tests/moreau-server-pageless
folder=$(mktemp -d)
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT INT TERM

fail() {
    echo "$*" >&2
    exit 1
}

readelf -d "$pageless" | grep -q 'NEEDED.*libuv' || fail "readelf does not say what the server needs"
! readelf -d "$pageless" | grep 'NEEDED.*libwebsockets' || fail "a server without pages needs libwebsockets"

status=0
"$pageless" --listen "unix:$folder/socket" --http 127.0.0.1:0 2>"$folder/said" || status=$?
[ "$status" -ne 0 ] || fail "--http was taken"
grep -q 'built without its HTTP pages (MOREAU_HTTP=OFF): leave out --http' "$folder/said" ||
    fail "what it says of --http: $(cat "$folder/said")"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -days 2 -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>"$folder/said" || fail "$(cat "$folder/said")"
mkfifo "$folder/ready"
"$pageless" --listen 127.0.0.1:0 --tls-cert "$folder/certificate.pem" --tls-key "$folder/key.pem" --db "$folder/episodes.db" \
    --ready-fd 3 --log-file "$folder/log" 3>"$folder/ready" &
server=$!
read -r address <"$folder/ready" || fail "the server did not start: $(cat "$folder/log")"
kill -HUP "$server"
"$build/clients/moreau" --server "$address" --tls-ca "$folder/certificate.pem" run \
    "$(dirname "$0")/scenes/falling.json" --steps 20 --record --json >"$folder/run.json"
grep -q '"steps": *20' "$folder/run.json" || fail "it did not step: $(cat "$folder/run.json")"
kill "$server"
wait "$server" || fail "it ended with $?: $(tail -n 3 "$folder/log")"
server=""
