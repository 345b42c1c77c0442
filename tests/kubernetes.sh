#!/bin/sh
# The manifests of deploy/kubernetes are what kustomize takes, and what Kubernetes knows; and pods that are started,
# probed, drained, killed and replaced as they say keep a fleet going, without a cluster.
#   tests/kubernetes.sh FOLDER SERVER     FOLDER: where two programs go, of Go and of PyPI
# Wants root: pods are namespaces.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -x "$folder/kustomize" ] || (cd "$folder" && GOBIN=$folder go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1)
[ -x "$folder/schemas/bin/pip" ] || python3 -m venv "$folder/schemas"
"$folder/schemas/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate pyyaml numpy
for part in servers monitoring run; do
    "$folder/kustomize" build "$source/deploy/kubernetes/$part" > "$folder/$part.yaml"
    "$folder/schemas/bin/kubernetes-validate" --strict --quiet "$folder/$part.yaml"
done
# every option that a server is started with exists
"$folder/schemas/bin/python" - "$folder/servers.yaml" "$2" <<'END'
import subprocess, sys, yaml
manifest, server = sys.argv[1:]
known = subprocess.run([server, "--help"], capture_output=True, text=True, check=True).stdout
sets = [one for one in yaml.safe_load_all(open(manifest)) if one["kind"] == "StatefulSet"]
options = [word for word in sets[0]["spec"]["template"]["spec"]["containers"][0]["args"] if word.startswith("--")]
missing = [option for option in options if f"  {option} " not in known]
sys.exit(f"moreau-server has no {', '.join(missing)}" if missing or not options else 0)
END
echo "kubernetes: 3 passed, 0 failed"
"$source/deploy/packages" pods
rm -rf "$folder/pods"
mkdir "$folder/pods"
PYTHONPATH=$source/clients/python/src PYTHONDONTWRITEBYTECODE=1 unshare --net --mount --pid --fork --kill-child --mount-proc \
    "$folder/schemas/bin/python" "$source/tests/engines/pods.py" "$folder/servers.yaml" "$(realpath "$2")" "$folder/pods"
