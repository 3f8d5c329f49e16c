#!/bin/sh
# What CI does and what a developer does before a commit: format, lint, types, import contracts, tests.
#
#   sh packaging/test.sh               everything
#   sh packaging/test.sh tests/unit    arguments go to pytest
#
# Installs what is missing first (see run.sh); the tests of phones, pages and windows use system packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/packaging/setup.sh"
cd "$root"

make_venv
install_studio dev,executorch,litert,qualcomm

wanted=$("$venv/bin/python" packaging/system_libraries.py)
for pair in adb:adb mksh:mksh toybox:toybox proot:proot Xvfb:xvfb git:git chromium:chromium; do
    has "${pair%%:*}" || wanted="$wanted ${pair##*:}"
done
for font in /usr/share/fonts/truetype/dejavu:fonts-dejavu-core /usr/share/fonts/truetype/wqy:fonts-wqy-microhei; do
    [ -d "${font%%:*}" ] || wanted="$wanted ${font##*:}"
done
# Word splitting is meant. Without them the tests that need them say so and are skipped.
apt_install $wanted || true

set -x
"$venv/bin/ruff" check .
"$venv/bin/ruff" format --check .
"$venv/bin/mypy"
"$venv/bin/lint-imports"
"$venv/bin/python" -m pytest -n 2 --dist loadscope "$@"
