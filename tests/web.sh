#!/bin/sh
# The viewer: its unit tests in node; then in a browser: records episodes with a server, opens them in the built page in
# headless Chromium, and compares what it shows with what other code reads from the file (tests/web/expect.py). Says so
# where there is no Chromium, or node has not its packages.
#   tests/web.sh BUILD_DIR --pictures          takes those of clients/web/pictures anew
#   tests/web.sh BUILD_DIR [--smoke|--all]     --smoke: the first look at an episode alone; --all: also files of a
#                                              gigabyte and of 10,000 bodies, with figures, and every forgery of signed
#                                              files that system/signed_forged makes, in minutes. With either, all that
#                                              is needed must be there
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
all=${2:-}
web=$source/clients/web
for needed in /usr/bin/chromium "$web/node_modules/playwright-core"; do
    if [ ! -e "$needed" ]; then
        echo "LEFT OUT: the viewer is not tested, as there is no $needed (deploy/packages web, deploy/web --tools)"
        [ -z "$all" ] || exit 1
        exit 0
    fi
done
PATH=$("$source/deploy/node"):$PATH
folder=$(mktemp -d)
server_pid=""
finish() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT INT TERM

start() {
    rm -f "$folder/ready"
    mkfifo "$folder/ready"
    db=$1
    shift
    "$build/moreau-server" --listen "unix:$folder/socket" --db "$db" "$@" --ready-fd 3 --log-file "$folder/log" 3>"$folder/ready" &
    server_pid=$!
    read -r MOREAU_SERVER <"$folder/ready"
    export MOREAU_SERVER
}
stop() {
    kill "$server_pid"
    wait "$server_pid"
    server_pid=""
}
run() {
    scene=$1
    shift
    "$build/clients/moreau" run "$source/tests/scenes/$scene.json" --json "$@" >/dev/null 2>&1
}

if [ "$all" = --pictures ]; then
    start "$folder/pictures.db"
    run falling --steps 200 --record=contacts --episode-name falling
    run stack10 --steps 120 --record=contacts --episode-name stack
    run heap-12 --steps 120 --record=contacts --episode-name heap
    run incline --steps 200 --record=contacts --episode-name slides --solver mdp
    run joints/humanoid_stairs --steps 200 --record=contacts --episode-name humanoid
    stop
    node "$web/tests/pictures.mjs" "$folder" "$web/pictures"
    exit 0
fi
node "$web/tests/run.mjs" >"$folder/units" || { cat "$folder/units" >&2; exit 1; }
start "$folder/log.db"
run stack10 --steps 60 --record=inputs --episode-name inputs
run incline --steps 200 --record=contacts --episode-name slides --solver mdp
run incline --steps 200 --record=contacts --episode-name glides --solver sap
run falling --steps 150 --record=contacts --episode-name falling
run spinning_rod --steps 60 --record=inputs --episode-name rod
run incline --steps 200 --record=frames --episode-name parts --solver mdp
"$build/clients/moreau" compare parts --solver sap --from 120 --stride 1 --record --json >/dev/null 2>&1
"$source/tests/web/slower.py" "$source/tests/scenes/incline.json" 480 >"$folder/half.json" # half the time step
"$build/clients/moreau" run "$folder/half.json" --steps 400 --record=contacts --solver mdp --episode-name Half --json >/dev/null 2>&1
cp "$folder/log.db" "$folder/open.db"
cp "$folder/log.db-wal" "$folder/open.db-wal"
stop
start "$folder/long.db"
run incline --steps 1400 --record=frames --episode-name long # three chunks of everything
stop
for owner in mine other; do
    "$build/moreau-server" --seal-new "$folder/$owner" >/dev/null
done
start "$folder/signed.db" --seal-key "$folder/mine/seal.key"
run incline --steps 200 --record=contacts --episode-name sealed --solver mdp
stop
"$build/clients/moreau" export sealed --db "$folder/signed.db" --html "$folder/sealed.html" --page "$web/page/moreau-viewer.html" --seal-pub "$folder/mine/seal.pub" >/dev/null
cp "$folder/signed.db" "$folder/resealed.db" # another name, and each checksum right again
"$source/tests/web/forge.py" "$folder/resealed.db" sealed said sealed seated
start "$folder/others.db" --seal-key "$folder/other/seal.key"
run falling --steps 90 --record=inputs --episode-name theirs
stop
"$build/moreau-server" --merge "$folder/merged.db" "$folder/signed.db" "$folder/others.db" >/dev/null 2>&1 # two keys
missing() { # NAME WHICH
    cp "$folder/long.db" "$folder/no-$1.db"
    "$source/tests/web/change.py" "$folder/no-$1.db" "DELETE FROM chunk WHERE $2"
}
missing definition "kind = 6"
missing scene "kind = 9"
missing keyframe "kind = 1 AND first_step = 0"
missing inputs "kind = 2 AND first_step = 500"
missing frames "kind = 3 AND first_step = 501"
missing seal "kind = 7"
start "$folder/group.db"
"$source/tests/web/group.py" "$MOREAU_SERVER" >"$folder/group.json"
stop
"$source/tests/web/expect.py" "$folder/log.db" slides glides 100 >"$folder/expected.json"
"$build/clients/moreau" export slides --db "$folder/log.db" --html "$folder/slides.html" --page "$web/page/moreau-viewer.html" >/dev/null
cp "$folder/log.db" "$folder/lies.db"
"$source/tests/web/lie.py" "$folder/lies.db" slides 77
forge() { # NAME OF RECORDING KIND OLD NEW
    cp "$folder/$2.db" "$folder/forged-$1.db"
    "$source/tests/web/forge.py" "$folder/forged-$1.db" "$3" "$4" "$5" "$6"
}
forge settings log slides scene '"gravity":[0,0,-9.81]' '"gravity":[0,0,-9.71]'
forge material log slides scene '"friction":0.08' '"friction":0.07'
forge body log slides scene '"position":[0.017101007166283436,-0.3,' '"position":[0.017101007166283436,-0.4,'
forge number log slides definition 0.0041666666666666666 0.005
forge template group pushed scene '"gravity":[0,0,-9.81]' '"gravity":[0,0,-9.71]'
forge length group pushed definition 0.01 0.02
forge list group pushed episodes 70 71
cp "$folder/group.db" "$folder/pushed.db"
episode=$(/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["episode"])' <"$folder/group.json")
start "$folder/pushed.db"
"$build/clients/moreau" compare "$episode" --time-step 0.005 --from 10 --stride 1 --record --json >"$folder/pushed.json" 2>/dev/null
stop
cp "$folder/group.db" "$folder/turned.db"
"$source/tests/web/change.py" "$folder/turned.db" "UPDATE episode SET turn = turn + 1 WHERE world_index = 70 AND turn = 2"
if [ "$all" != --smoke ]; then
    start "$folder/farm.db"
    "$source/tests/web/farm.py" "$MOREAU_SERVER" begin >"$folder/begun.json"
    kill -9 "$server_pid"
    wait "$server_pid" 2>/dev/null || true
    start "$folder/farm.db"
    "$source/tests/web/farm.py" "$MOREAU_SERVER" on "$(sed 's/.*"recording": "\([0-9a-f]*\)".*/\1/' "$folder/begun.json")" <"$folder/begun.json" >"$folder/farm.json"
    of=$(sed 's/.*"of": "\([0-9a-f]*\)".*/\1/' "$folder/farm.json")
    "$build/clients/moreau" compare "$of" --solver mdp --from 20 --stride 1 --record --json >"$folder/compared.json"
    stop
    "$source/tests/web/rows.py" "$folder/farm.db" "farm, gone on" >"$folder/rows.json"
    start "$folder/many.db"
    "$source/tests/web/many.py" "$MOREAU_SERVER" 100000 >"$folder/many.json"
    stop
fi
if [ "$all" = --all ]; then
    mkdir "$folder/forgeries"
    MOREAU_FORGERIES=$folder/forgeries "$build/tests/system-check_signed_forged" >"$folder/forged" || { cat "$folder/forged" >&2; exit 1; }
    node "$web/tests/forgeries.mjs" "$folder/forgeries"
    start "$folder/large.db"
    for bodies in 100 1000 10000; do
        "$source/tests/web/large.py" $bodies >"$folder/$bodies.json"
        steps=$([ $bodies = 1000 ] && echo 9500 || echo 60) # a gigabyte
        "$build/clients/moreau" run "$folder/$bodies.json" --steps "$steps" --record=frames --episode-name "bodies-$bodies" --json >/dev/null 2>&1
    done
    stop
fi
MOREAU_BUILD=$build node "$web/tests/browser.mjs" "$folder" $all
