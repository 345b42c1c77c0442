#!/bin/sh
# Installs a build into an empty folder and uses what is there as somebody else would: runs the server from it, builds a
# small client against it with pkg-config, looks for a manual page of every command, lets systemd judge the units, and
# uninstalls, after which nothing may be left.
#   tests/install.sh BUILD_DIR
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
folder=$(mktemp -d)
server_pid=""
finish() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT INT TERM

fail() {
    echo "$*" >&2
    exit 1
}

root=$folder/root
DESTDIR=$root cmake --install "$build" >/dev/null
bin=$(dirname "$(find "$root" -name moreau-server -perm -100 -type f)")
lib=$(dirname "$(find "$root" -name libmoreau.so)")
man=$(dirname "$(find "$root" -name moreau.1)")
units=$(dirname "$(find "$root" -name moreau.service)")

echo "== the installed server answers the installed command line"
mkfifo "$folder/ready"
"$bin/moreau-server" --listen 127.0.0.1:0 --http 127.0.0.1:0 --db "$folder/episodes.db" --ready-fd 3 --log-file "$folder/log" 3>"$folder/ready" &
server_pid=$!
read -r address <"$folder/ready" || fail "the server did not start"
"$bin/moreau" call Ping --server "$address" --json >/dev/null

echo "== a client is built against what is installed"
cat >"$folder/client.c" <<'CLIENT'
#include <moreau.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MoreauClient *client;
    MoreauError error;
    if (argc != 2 || moreau_connect(argv[1], NULL, &client, &error) != MOREAU_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    uint64_t echo = 0;
    MoreauStatus status = moreau_ping(client, 42, &echo);
    moreau_disconnect(client);
    return status == MOREAU_OK && echo == 42 ? 0 : 1;
}
CLIENT
export PKG_CONFIG_PATH="$lib/pkgconfig"
# words are to be split
# shellcheck disable=SC2046
cc -std=c17 -Wall -Werror "$folder/client.c" -o "$folder/shared" $(pkg-config --cflags --libs moreau)
# shellcheck disable=SC2046
cc -std=c17 "$folder/client.c" -o "$folder/static" $(pkg-config --cflags moreau) "$lib/libmoreau.a" \
    $(pkg-config --libs libprotobuf-c openssl) -lm
LD_LIBRARY_PATH=$lib "$folder/shared" "$address" || fail "the client of the shared library failed"
"$folder/static" "$address" || fail "the client of the static library failed"
include=$(pkg-config --variable=includedir moreau)
for header in "$include"/moreau*.h; do # each alone, in C and, where there is a compiler of it, in C++
    for language in c c++; do
        [ $language = c ] || command -v c++ >/dev/null || continue
        echo "#include <${header##*/}>" | cc -Wall -Wextra -Werror -fsyntax-only "-I$include" -x $language - ||
            fail "${header##*/} alone is no header of $language"
    done
done
proto=$(pkg-config --variable=protodir moreau)/moreau.proto
cmp "$proto" "$source/proto/moreau.proto"

echo "== the viewer's page is found: by the command line in the build, and where it is installed"
"$bin/moreau" run "$source/tests/scenes/one_ball.json" --server "$address" --steps 24 --record --episode-name seen >/dev/null 2>&1
for program in "$build/clients/moreau" "$bin/moreau"; do
    "$program" export seen --db "$folder/episodes.db" --html "$folder/seen.html" >/dev/null || fail "$program finds no page"
    grep -q 'id="moreau-proof-wasm"' "$folder/seen.html" || fail "the page of $program cannot prove"
done

echo "== the scenes are there, and play"
scenes=$(dirname "$(find "$root" -name falling.json)")
case "$scenes" in
*/share/moreau/scenes) ;;
*) fail "the scenes are in '$scenes'" ;;
esac
for scene in "$source"/tests/scenes/*.json; do
    cmp "$scene" "$scenes/$(basename "$scene")"
done
"$bin/moreau" run "$scenes/falling.json" --server "$address" --steps 720 --require-converged >/dev/null ||
    fail "the installed scene does not play"
"$bin/moreau" bench --list | grep roundtrip >/dev/null || fail "moreau bench does not find moreau-bench"

# with no DESTDIR it is told how a program finds the library, or it is seen to
echo "== after an installation programs find the library"
# (no -q: it would end the installation with the pipe)
cmake --install "$build" --prefix "$folder/prefix" | grep "LD_LIBRARY_PATH=$folder/prefix" >/dev/null ||
    fail "cmake --install does not say how a program finds the library"
cat >"$folder/as_root" <<'AS_ROOT'
set -eu
build=$1 folder=$2 address=$3
# a /usr/local and an /etc of its own, which are gone when this ends
cp -a /etc "$folder/etc"
mount --bind "$folder/etc" /etc
mount -t tmpfs none /usr/local
cmake --install "$build" --prefix /usr/local | grep 'linker knows /usr/local' >/dev/null
cc "$folder/client.c" -I/usr/local/include -L/usr/local/lib -lmoreau -o "$folder/linked"
"$folder/linked" "$address"
AS_ROOT
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    unshare -m sh "$folder/as_root" "$build" "$folder" "$address" ||
        fail "a program linked with -lmoreau does not run after an installation to /usr/local"
fi
# the manifest is that of the last installation; the rest is about the first
DESTDIR=$root cmake --install "$build" >/dev/null

kill -TERM "$server_pid"
wait "$server_pid" || fail "the server did not end with status 0"
server_pid=""

echo "== every command has a manual page"
for command in $("$bin/moreau" --help | awk '$1 == "moreau" && NF > 1 && /^  / { print $2 }'); do
    [ -s "$man/moreau-$command.1" ] ||
        fail "moreau $command has no manual page: add it in clients/CMakeLists.txt"
done
for page in "$man"/moreau*.1 "$man/../man8/moreau-server.8"; do
    grep -q '^.SH EXAMPLES$' "$page" || fail "$page has no examples"
done
commands=$("$bin/moreau" --help | awk '$1 == "moreau" && NF > 1 && /^  / { print $2 }' | sort -u)
options_of() { # PROGRAM [COMMAND]
    "$@" --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'
}
knows() { # TEXT FILE...: each has it, and not as the beginning of a longer name
    text=$1
    shift
    for file in "$@"; do
        grep -q -e "$text\([^a-z0-9-]\|\$\)" "$file" || return 1
    done
}
for option in $(options_of "$bin/moreau-server"); do
    knows "^\.B.*$(echo "--$option" | sed 's/-/\\\\-/g')" "$man/../man8/moreau-server.8" || fail "moreau-server(8) does not know --$option"
done
for command in $commands; do
    for option in $(options_of "$bin/moreau" "$command"); do
        knows "^\.B.*$(echo "--$option" | sed 's/-/\\\\-/g')" "$man/moreau-$command.1" || fail "moreau-$command(1) does not know --$option"
    done
done
# a line of a paragraph may end in a colon, too, and so may its last one
cat >"$folder/told" <<'TOLD'
#!/bin/sh
[ "$1" = --help ] || { echo "told 1"; exit 0; }
cat <<'HELP'
told: what is said

What follows is no heading:
First:
and goes on.

This neither, as it has words:
  said        so

Options:
  --loud      louder

Examples:
  told:
HELP
TOLD
chmod 755 "$folder/told"
[ "$("$source/deploy/manual" 1 "$folder/told" | sed -n 's/^\.SH //p' | tr '\n' ' ')" = "NAME DESCRIPTION OPTIONS EXAMPLES SEE ALSO " ] ||
    fail "deploy/manual makes headings of what is none"

echo "== shells complete what --help names"
share=$(dirname "$(find "$root" -name bash-completion -type d)")
bash=$share/bash-completion/completions zsh=$share/zsh/site-functions fish=$share/fish/vendor_completions.d
complete_in_bash() { # WORD ...: what the last one, of moreau's, may become
    bash -c '. "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _moreau && echo "${COMPREPLY[@]}"' "$bash/moreau" "$@"
}
[ "$(complete_in_bash moreau ver)" = verify ] || fail "bash does not complete moreau's commands"
[ "$(complete_in_bash moreau --json run --episode)" = --episode-name ] || fail "bash does not complete the options of moreau run"
[ "$(complete_in_bash moreau call WorldSte)" = WorldStep ] || fail "bash does not complete the calls"
[ "$(complete_in_bash moreau snapshot re)" = restore ] || fail "bash does not complete what snapshot does"
[ -z "$(complete_in_bash moreau verify ver)$(complete_in_bash moreau run --solver run)" ] || fail "bash completes where files are meant"
[ "$(complete_in_bash moreau token re)" = revoke ] || fail "bash does not complete what token does"
for command in $commands; do
    for option in $(options_of "$bin/moreau" "$command"); do
        knows "--$option" "$bash/moreau" "$zsh/_moreau" && knows "-l $option" "$fish/moreau.fish" || fail "no completion knows moreau $command --$option"
    done
done
for option in $(options_of "$bin/moreau-server"); do
    knows "--$option" "$bash/moreau-server" "$zsh/_moreau-server" && knows "-l $option" "$fish/moreau-server.fish" || fail "no completion knows moreau-server --$option"
done
for program in moreau moreau-server; do
    bash -n "$bash/$program"
    ! command -v zsh >/dev/null || zsh -n "$zsh/_$program"
    ! command -v fish >/dev/null || fish -n "$fish/$program.fish"
done
if command -v fish >/dev/null; then
    export HOME="$folder"
    [ "$(fish -c "source $fish/moreau.fish; complete -C 'moreau snapshot --cou'" | cut -f 1)" = --count ] || fail "fish does not complete moreau snapshot"
fi

if command -v systemd-analyze >/dev/null; then
    echo "== systemd accepts the units"
    mkdir "$folder/units"
    cp "$units/moreau.socket" "$folder/units"
    sed "s|^ExecStart=.*/moreau-server|ExecStart=$bin/moreau-server|" "$units/moreau.service" >"$folder/units/moreau.service"
    said=$(systemd-analyze verify --man=no "$folder/units/moreau.service" "$folder/units/moreau.socket" 2>&1) ||
        fail "systemd-analyze: $said"
    case "$said" in
    *"$folder"*) fail "systemd-analyze: $said" ;;
    esac
fi

echo "== uninstalled"
DESTDIR=$root cmake -DMANIFEST="$build/install_manifest.txt" -P "$source/deploy/uninstall.cmake" >/dev/null
rest=$(find "$root" ! -type d -o -type d -name '*moreau*')
[ -z "$rest" ] || fail "left behind: $rest"
