#!/bin/sh
# moreau_sim.ray on a cluster of three of Ray's nodes, all on this machine, in an environment of its own.
#   tests/ray.sh FOLDER SERVER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check 'ray>=2.50' numpy pytest
cd "$source/tests/engines"
PYTHONPATH="$source/clients/python/src:$PWD" MOREAU_SERVER_BIN=$(realpath "$2") PYTHONDONTWRITEBYTECODE=1 RAY_USAGE_STATS_ENABLED=0 \
    "$folder/bin/python" -m pytest -q -p no:cacheprovider check_ray.py
