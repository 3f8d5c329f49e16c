#!/bin/sh
# Adds the studio to the desktop of this user: menu entry, icon, and file types of .studio, .onnx, .tflite.
# `sh packaging/linux/install-desktop.sh --remove` takes them away again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
entry=$data/applications/deployment-studio.desktop
types=$data/mime/packages/deployment-studio.xml
icon=$data/icons/hicolor/scalable/apps/deployment-studio.svg

if [ "${1:-}" = --remove ]; then
    rm -f "$entry" "$types" "$icon"
else
    command=$root/.venv/bin/deployment-studio
    [ -x "$command" ] || command=$(command -v deployment-studio) || {
        echo "error: deployment-studio is not installed. First: sh packaging/run.sh doctor" >&2
        exit 2
    }
    mkdir -p "${entry%/*}" "${types%/*}" "${icon%/*}"
    # In Exec a path may be quoted; backslash, quote, $ and ` must not be in it unescaped.
    case $command in
    *[\"\`\$\\]*) echo "error: the path $command cannot be written into a desktop entry" >&2; exit 2 ;;
    esac
    while IFS= read -r line; do
        case $line in
        Exec=*) printf 'Exec="%s" %%f\n' "$command" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$here/deployment-studio.desktop" >"$entry"
    cp "$here/deployment-studio.xml" "$types"
    cp "$root/resources/icons/app.svg" "$icon"
fi
for update in "update-desktop-database ${entry%/*}" "update-mime-database $data/mime"; do
    # Word splitting is meant for the command; the folders come last.
    tool=${update%% *}
    if command -v "$tool" >/dev/null 2>&1; then "$tool" "${update#* }" || true; fi
done
