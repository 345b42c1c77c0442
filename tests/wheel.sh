#!/bin/sh
# The wheel that brings the server, in an environment of its own that has nothing else: a world is stepped, recorded and verified; and, with
# Gymnasium beside it, the ten lines of examples/train.py learn on a server that somebody else started.
#   tests/wheel.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
"$source/deploy/wheel" "$folder"
/usr/bin/python3 -m venv --clear "$folder/user"
"$folder/user/bin/pip" install --quiet --disable-pip-version-check "$folder"/dist/moreau_sim-*-manylinux_*.whl
cd /
env -u MOREAU_SERVER_BIN PATH="$folder/user/bin:/usr/bin:/bin" "$folder/user/bin/python" - "$folder" "$source/tests/scenes/one_ball.json" <<'PROGRAM'
import sys

import moreau_sim

with moreau_sim.launch(db=sys.argv[1] + "/episodes.db") as server, server.client() as client:
    assert server.found_in == "this package", server.found_in
    world = moreau_sim.World.create(client, sys.argv[2])
    with world.record() as episode:
        world.step(240)
    verify = client.episode_verify(episode=episode).result()
    assert verify.verified and verify.steps == 240, verify
    print("wheel: stepped, recorded and verified by", client.welcome.build)
PROGRAM

"$folder/user/bin/pip" install --quiet --disable-pip-version-check 'gymnasium>=1.2,<1.5'
socket=$folder/elsewhere.sock
rm -f "$socket"
"$folder/build/moreau-server" --listen "unix:$socket" 2>"$folder/server.log" &
server=$!
trap 'kill $server' EXIT
until [ -S "$socket" ]; do sleep 0.1; done
"$folder/user/bin/python" "$source/clients/python/examples/train.py" "unix:$socket" | tee "$folder/learnt" | tail -1
[ "$(sed -n '$s/.* //p' "$folder/learnt")" -ge 475 ] # of 500
