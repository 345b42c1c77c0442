#!/bin/sh
# moreau_sim.ray on a cluster of three of Ray's nodes, all on this machine, and what learns there, in an environment of
# its own: 6 GB, as PyPI's torch brings CUDA along.
#   tests/ray.sh FOLDER SERVER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
server=$(realpath "$2")
[ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check 'ray[rllib]>=2.50' gymnasium numpy pytest torch
cd "$source/tests/engines"
# Ray's workers yield to all that a busy machine does beside them, unless they are told otherwise
export RAY_worker_niceness=0 RAY_USAGE_STATS_ENABLED=0
PYTHONPATH="$source/clients/python/src:$source/clients/python/examples:$PWD" MOREAU_SERVER_BIN=$server PYTHONDONTWRITEBYTECODE=1 \
    "$folder/bin/python" -m pytest -q -p no:cacheprovider check_ray.py check_learners.py
