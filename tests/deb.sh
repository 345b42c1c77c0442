#!/bin/sh
# Debian's packages in a clean Debian 12 that holds nothing else: lintian has nothing to say, they are installed, the
# server runs as its user, records, and the command line finds the page; a newer version takes their place, and keeps
# what was recorded; purged, nothing is left but the user. Needs root, as it makes that Debian and enters it.
#   tests/deb.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
    echo "LEFT OUT: only root can make a clean Debian to install the packages in"
    exit 0
fi
"$source/deploy/packages" root
"$source/deploy/deb" "$1"
folder=$(cd "$1" && pwd)
version=$(sed -n 's/^project(moreau VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
newer=$version+1
"$source/deploy/deb" "$folder" "$newer"

[ -e "$folder/base.tar" ] || mmdebstrap --quiet --mode=root --variant=minbase bookworm "$folder/base.tar" - </etc/apt/sources.list.d/debian.sources
root=$folder/root
rm -rf "$root"
mkdir -p "$root"
tar -xpf "$folder/base.tar" -C "$root"
cp /etc/resolv.conf "$root/etc/"
mkdir "$root/debs"
cp "$folder"/moreau*_"$version"_*.deb "$folder"/moreau*_"$newer"_*.deb "$root/debs"
cat >"$root/try" <<'INSIDE'
set -eu
version=$1 newer=$2
export DEBIAN_FRONTEND=noninteractive
start() {
    mkfifo /tmp/ready
    (cd /var/lib/moreau && exec setpriv --reuid=moreau --regid=moreau --clear-groups moreau-server --listen 127.0.0.1:7667 \
        --http 127.0.0.1:7668 --db episodes.db --ready-fd 3 --log-file /var/lib/moreau/log) 3>/tmp/ready &
    server=$!
    read -r _ </tmp/ready
    rm /tmp/ready
}
stop() {
    kill $server
    wait $server
}
apt-get -qq update
apt-get install -y -qq --no-install-recommends /debs/*_"${version}"_*.deb >/dev/null 2>&1
[ "$(moreau --version)" = "moreau $version" ]
[ "$(stat -c %U /var/lib/moreau)" = moreau ]
grep -q '^User=moreau$' /lib/systemd/system/moreau.service
start
moreau run /usr/share/moreau/scenes/falling.json --steps 100 --record --episode-name falls >/dev/null
moreau verify falls
# a hull of points, which Qhull makes
cat >/tmp/wedge.json <<'SCENE'
{"settings": {"gravity": [0, 0, -9.81], "time_step": 0.004}, "materials": [{"name": "stone", "friction": 0.6}],
 "bodies": [{"kind": "STATIC", "shapes": [{"plane": {}, "material": "stone"}]},
            {"name": "wedge", "position": [0, 0, 0.2], "shapes": [{"hull": {"points":
                [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, 0.1]}, "material": "stone", "density": 2000}]}]}
SCENE
moreau run /tmp/wedge.json --steps 100 --record --episode-name wedge >/dev/null
moreau verify wedge
moreau export falls --db /var/lib/moreau/episodes.db --html /tmp/falls.html >/dev/null
grep -q 'id="moreau-proof-wasm"' /tmp/falls.html
# the page of the server itself, without a program to fetch pages
exec 4<>/dev/tcp/127.0.0.1/7668
printf 'GET / HTTP/1.0\r\nHost: 127.0.0.1:7668\r\n\r\n' >&4
grep -q -m 1 'id="moreau-proof-wasm"' <&4
exec 4>&-
stop
apt-get install -y -qq --no-install-recommends /debs/*_"${newer}"_*.deb >/dev/null 2>&1
[ "$(dpkg-query -W -f '${Version}' moreau-server)" = "$newer" ]
start
moreau verify falls
stop
apt-get purge -y -qq moreau moreau-server >/dev/null 2>&1
left=$(find / -xdev -iname '*moreau*' ! -path '/proc/*' ! -path '/debs/*' ! -path '/tmp/*')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
! command -v moreau-server
echo "deb: installed, upgraded and purged"
INSIDE
# in a process namespace of its own, so that nothing that was started there outlives it
unshare -m -p -f sh -c '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --make-rslave "$1/dev"
    exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin bash /try "$2" "$3"' - "$root" "$version" "$newer"
rm -rf "$root"
