#!/bin/sh
# The container: built as its README says, but for the Debian that it is built in, which is made here, as no registry of
# images is asked. It is small and holds no shell; nobody in it is root and nothing of it can be written; it answers for
# its health, records what it is asked for, and ends when it is told to. Needs root, as it makes that Debian.
#   tests/container.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
    echo "LEFT OUT: only root can make a clean Debian to build the container in"
    exit 0
fi
"$source/deploy/packages" container
mkdir -p "$1"
folder=$(cd "$1" && pwd)
# it would have systemd ask for health, and says of each container that there is none
podman() {
    command podman --log-level=fatal "$@"
}
image=moreau-tested debian=localhost/moreau-debian:bookworm
bytes_max=40000000

[ -e "$folder/base.tar" ] || mmdebstrap --quiet --mode=root --variant=minbase bookworm "$folder/base.tar" - </etc/apt/sources.list.d/debian.sources
podman image exists "$debian" || podman import --quiet "$folder/base.tar" "$debian" >/dev/null
podman build --isolation=chroot --format docker --from "$debian" -f "$source/deploy/container/Containerfile" -t "$image" "$source" \
    >"$folder/log" 2>&1 || { tail -n 40 "$folder/log" >&2; exit 1; }

bytes=$(podman image inspect --format '{{.Size}}' "$image")
[ "$bytes" -lt "$bytes_max" ] || { echo "the image has $bytes bytes, and $bytes_max are too many" >&2; exit 1; }
[ "$(podman image inspect --format '{{.User}}' "$image")" = 7667:7667 ]

# limits of its own, as engines ask for more than a machine that is itself a guest may give
run() {
    podman run --network=none --read-only --cap-drop=all --security-opt=no-new-privileges --ulimit=nofile=1024:1024 \
        --ulimit=nproc=1024:1024 "$@"
}
[ "$(run --rm --entrypoint moreau "$image" --version)" = "moreau $(sed -n 's/^project(moreau VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" ]
! run --rm --entrypoint sh "$image" -c true 2>/dev/null

rm -f "$folder/token"
head -c 32 /dev/urandom | base64 >"$folder/token"
chown 7667 "$folder/token"
chmod 600 "$folder/token"
container=$(run --detach --volume "$folder/token:/run/secrets/moreau-token:ro" "$image")
trap 'podman rm --force --time 0 --volumes "$container" >/dev/null' EXIT
inside() {
    podman exec "$container" moreau "$@" --token-file /run/secrets/moreau-token
}
tries=0
until podman healthcheck run "$container" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { podman logs "$container" >&2; exit 1; }
    sleep 0.1
done
# whoever it runs as, and what it may write to
process=$(podman container inspect --format '{{.State.Pid}}' "$container")
grep -q '^Uid:[[:space:]]*7667[[:space:]]*7667' "/proc/$process/status"
grep -q '^CapEff:[[:space:]]*0*$' "/proc/$process/status"
grep -q ' / / ro,' "/proc/$process/mountinfo"
inside run /usr/share/moreau/scenes/falling.json --steps 100 --record --episode-name falls >/dev/null
inside verify falls
inside export falls --db /var/lib/moreau/episodes.db --html /var/lib/moreau/falls.html >/dev/null
podman stop --time 20 "$container" >/dev/null
[ "$(podman container inspect --format '{{.State.ExitCode}}' "$container")" = 0 ]
echo "container: $bytes bytes; 11 passed, 0 failed"
