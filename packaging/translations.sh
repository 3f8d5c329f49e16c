#!/bin/sh
# Collects the window's texts into resources/translations/*.ts and compiles them to *.qm.
#   sh packaging/translations.sh            collect and compile
#   sh packaging/translations.sh --compile  compile only
# Translators edit studio_zh_CN.ts (Qt Linguist reads it). Both .ts and .qm are committed, so that a
# checkout and a wheel have the translation without Qt's tools; a test holds them together.
set -eu
cd "$(dirname "$0")/.."
bin=${STUDIO_BIN:-.venv/bin}
ts=resources/translations/studio_zh_CN.ts
if [ "${1:-}" != "--compile" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$bin/python" packaging/translatable.py "$work" > "$work/files"
    # shellcheck disable=SC2046
    "$bin/pyside6-lupdate" -noobsolete -locations none -source-language en -target-language zh_CN \
        $(cat "$work/files") -ts "$ts"
fi
"$bin/pyside6-lrelease" -silent "$ts" -qm "${ts%.ts}.qm"
