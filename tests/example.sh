#!/bin/sh
# The Python client that is made from moreau.proto alone, as its head says: generated, and run against a server.
#   tests/example.sh BUILD_DIR PROTOC PYTHON
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
protoc=$2
python=$3
folder=$(mktemp -d)
server_pid=""
finish() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT INT TERM

mkfifo "$folder/ready"
"$build/moreau-server" --listen 127.0.0.1:0 --ready-fd 3 --log-file "$folder/log" 3>"$folder/ready" &
server_pid=$!
read -r address <"$folder/ready"

"$protoc" --proto_path="$source/proto" --python_out="$folder" "$source/proto/moreau.proto"
said=$(PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 "$python" "$source/proto/example.py" "$source/tests/scenes/one_ball.json" "$address")
echo "$said"

# the same world, stepped by the command line, is where the example says
expected=$("$build/clients/moreau" --server "$address" call WorldCreate "{\"lifetime\": \"SERVER\", \"scene\": $(cat "$source/tests/scenes/one_ball.json")}" |
    "$python" -c 'import json, sys; print(json.load(sys.stdin)["world"])')
pose=$("$build/clients/moreau" --server "$address" call WorldStep "{\"worlds\": [$expected], \"steps\": 240, \"poses\": true}" |
    "$python" -c 'import json, sys; print(*map(float, json.load(sys.stdin)["pose"][-7:-4]))')
case "$said" in
"server "*", 1.000 s: the last body is at $pose") ;;
*) echo "expected the pose $pose" >&2; exit 1 ;;
esac

# an error is a sentence
if PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 "$python" "$source/proto/example.py" /dev/stdin "$address" 2>"$folder/error" <<'SCENE'
{"bodies": [{"position": [1, 2]}]}
SCENE
then
    echo "a wrong scene was not refused" >&2
    exit 1
fi
grep -q 'scene.bodies\[0\].position: ' "$folder/error"
