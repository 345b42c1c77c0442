#!/bin/sh
# The first steps of the learners of clients/python/examples, in an environment of their own: 6 GB, as PyPI's torch
# brings CUDA along.
#   tests/learners.sh FOLDER SERVER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
server=$(realpath "$2")
[ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check gymnasium numpy pytest stable-baselines3 \
    torch torchrl skrl rsl-rl-lib trimesh scipy networkx lxml example-robot-data
cd "$source/tests/learners"
PYTHONPATH="$source/clients/python/src:$source/clients/python/examples" MOREAU_SERVER_BIN=$server PYTHONDONTWRITEBYTECODE=1 \
    "$folder/bin/python" -m pytest -q -p no:cacheprovider check_examples.py
