#!/bin/sh
# The wheel that brings the server, in an environment of its own that has nothing else: a world is stepped, recorded and
# verified; and, with Gymnasium beside it, the ten lines of examples/train.py learn on a server that its command
# started. The commands of the wheel of the client alone say what is not there, and hide nothing.
#   tests/wheel.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
machine=$(uname -m)
"$source/deploy/wheel" "$folder"
for wheel in "$folder"/dist/moreau_sim-*.whl; do
    /usr/bin/python3 - "$wheel" "$source/proto/moreau.proto" <<'PROGRAM'
import sys, zipfile

assert zipfile.ZipFile(sys.argv[1]).read("moreau_sim/moreau.proto") == open(sys.argv[2], "rb").read(), sys.argv[1]
PROGRAM
done
/usr/bin/python3 -m venv --clear "$folder/user"
"$folder/user/bin/pip" install --quiet --disable-pip-version-check "$folder"/dist/moreau_sim-*-manylinux_*_"$machine".whl
cd /
env -u MOREAU_SERVER_BIN PATH="$folder/user/bin:/usr/bin:/bin" "$folder/user/bin/python" - "$folder" "$source/tests/scenes/one_ball.json" <<'PROGRAM'
import sys
import urllib.request

import moreau_sim

with moreau_sim.launch(db=sys.argv[1] + "/episodes.db", options=["--http", "127.0.0.1:0"]) as server, server.client() as client:
    assert server.found_in == "this package", server.found_in
    world = moreau_sim.World.create(client, sys.argv[2])
    with world.record("wheel") as episode:
        world.step(240)
    verify = client.episode_verify(episode=episode).result()
    assert verify.verified and verify.steps == 240, verify
    page = urllib.request.urlopen(f"http://{client.welcome.http}/").read()
    assert b'id="moreau-proof-wasm"' in page, page[:200]
    print("wheel: stepped, recorded and verified by", client.welcome.build)
shown = moreau_sim.view("wheel", sys.argv[1] + "/episodes.db", out=sys.argv[1] + "/wheel.html", show=False).read_bytes()
assert len(shown) > len(page) and b'id="episode"' in shown
print("wheel: the server shows the page, and an episode stands in one")
PROGRAM

"$folder/user/bin/pip" install --quiet --disable-pip-version-check 'gymnasium>=1.2,<1.5'
rm -f "$folder/ready" "$folder"/episodes.db*
mkfifo "$folder/ready"
"$folder/user/bin/moreau-server" --listen 127.0.0.1:0 --ready-fd 3 2>"$folder/server.log" 3>"$folder/ready" &
server=$!
trap 'kill $server' EXIT
read -r address <"$folder/ready"
"$folder/user/bin/python" "$source/clients/python/examples/train.py" "$address" | tee "$folder/learnt" | tail -1
[ "$(sed -n '$s/.* //p' "$folder/learnt")" -ge 475 ] # of 500

# the first thing to type
rm -rf "$folder/demo"
"$folder/user/bin/moreau" demo --no-window --out "$folder/demo" >"$folder/said" || { cat "$folder/said"; exit 1; }
ls "$folder"/demo/*.html >/dev/null
echo "wheel: moreau demo"

# the commands are the programs: what goes in, what comes out, the exit status, and a signal
"$folder/user/bin/moreau" --server "$address" run "$source/tests/scenes/one_ball.json" --steps 240 --json >"$folder/run.json"
grep -q '"steps": *240' "$folder/run.json"
status=0
"$folder/user/bin/moreau" "no such  command" 2>"$folder/said" || status=$?
[ $status -eq 2 ]
grep -q '"no such  command"' "$folder/said"
trap - EXIT
kill $server
wait $server # fails unless it ended as a server that was asked to

/usr/bin/python3 -m venv --clear "$folder/alone"
"$folder/alone/bin/pip" install --quiet --disable-pip-version-check --no-deps "$folder"/dist/moreau_sim-*-none-any.whl
for command in moreau moreau-server; do
    status=0
    PATH=/usr/bin:/bin "$folder/alone/bin/$command" --version 2>"$folder/said" || status=$?
    [ $status -eq 127 ]
    grep -q "^$command: .*without the program $command" "$folder/said"
done
[ "$(PATH=$folder/alone/bin:$folder/build-$machine:/usr/bin:/bin moreau-server --version)" = "$("$folder/build-$machine/moreau-server" --version)" ]
echo "wheel: the commands are the programs"

# what an aarch64 records, this machine proves; and its pages are TLS's
if [ "$machine" != aarch64 ]; then
    "$source/deploy/wheel" "$folder" aarch64
    rm -rf "$folder/other" "$folder"/other.db*
    /usr/bin/python3 -m zipfile -e "$folder"/dist/moreau_sim-*_aarch64.whl "$folder/other"
    emulated="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    bin=$folder/other/moreau_sim/bin
    chmod 755 "$bin/moreau" "$bin/moreau-server"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 2 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>"$folder/said"
    serve() { # EMULATOR SERVER OPTION...: on other.db
        emulator=$1
        shift
        $emulator "$@" --listen 127.0.0.1:0 --db "$folder/other.db" --ready-fd 3 2>"$folder/server.log" 3>"$folder/ready" &
        server=$!
        read -r MOREAU_SERVER <"$folder/ready"
        export MOREAU_SERVER
    }
    serve "$emulated" "$bin/moreau-server" --tls-cert "$folder/certificate.pem" --tls-key "$folder/key.pem" --http 127.0.0.1:0
    trap 'kill $server' EXIT
    # hulls of points alone, of which Qhull makes faces there
    /usr/bin/python3 - "$source/tests/scenes/hulls.json" "$folder/points.json" <<'PROGRAM'
import json, sys

scene = json.load(open(sys.argv[1]))
for geometry in scene["geometries"]:
    del geometry["hull"]["faces"]
json.dump(scene, open(sys.argv[2], "w"))
PROGRAM
    for scene in "$source/tests/scenes/falling.json" "$folder/points.json"; do
        name=${scene##*/}
        $emulated "$bin/moreau" --tls-ca "$folder/certificate.pem" run "$scene" --steps 60 --record \
            --episode-name "${name%.json}" >/dev/null
    done
    # the page comes through libwebsockets and OpenSSL
    /usr/bin/python3 - "$folder/certificate.pem" "$(sed -n 's/.* http address=//p' "$folder/server.log")/" <<'PROGRAM'
import ssl, sys, urllib.request

context = ssl.create_default_context(cafile=sys.argv[1])
assert b'id="moreau-proof-wasm"' in urllib.request.urlopen(sys.argv[2], context=context).read()
PROGRAM
    kill $server
    wait $server
    serve "" "$folder/build-$machine/moreau-server"
    "$folder/build-$machine/clients/moreau" verify falling
    "$folder/build-$machine/clients/moreau" verify points
    trap - EXIT
    kill $server
    wait $server
    echo "wheel: what aarch64 records, $machine proves"
fi
