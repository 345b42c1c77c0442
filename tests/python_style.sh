#!/bin/sh
# ruff and mypy --strict on the Python client (clients/python/pyproject.toml), in an environment of their own with the
# packages whose types the client uses; made once, after which both take four seconds.
#   tests/python_style.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
wanted="ruff==0.17.* mypy numpy gymnasium mcap mcap-protobuf-support foxglove-schemas-protobuf"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [ "$wanted" != "$(cat "$folder/holds" 2>/dev/null)" ]; then
    [ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
    # shellcheck disable=SC2086 # words
    "$folder/bin/pip" install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >"$folder/holds"
fi
cd "$source/clients/python"
"$folder/bin/ruff" check --no-cache
"$folder/bin/mypy" --cache-dir "$folder/mypy"
