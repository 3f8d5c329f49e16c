#!/bin/sh
# Sets up what is missing, then runs deployment-studio with the arguments given.
#
#   sh packaging/run.sh                    the demo on the sample project, then the window
#   sh packaging/run.sh inspect m.onnx     any command of deployment-studio
#
# Makes .venv beside this checkout with the pinned packages; a second run takes seconds.
#   DEPLOYMENT_STUDIO_EXTRAS   tool chains beside the core, default executorch,litert,qualcomm;
#                              empty = core only (1.7 GB instead of 2.9 GB)
#   PYTHON                     which Python makes the environment, 3.10 to 3.13
# pip's own variables (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, HTTPS_PROXY, …) are honoured.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/packaging/setup.sh"

extras=${DEPLOYMENT_STUDIO_EXTRAS-executorch,litert,qualcomm}
make_venv
[ -f "$venv/.deployment-studio-stamp" ] || [ -z "$extras" ] ||
    say "To take less: DEPLOYMENT_STUDIO_EXTRAS= sh packaging/run.sh (core only), or name some of $extras."
install_studio "$extras"

libraries=$("$venv/bin/python" "$root/packaging/system_libraries.py")
# Word splitting is meant: one word per package.
[ -z "$libraries" ] || apt_install $libraries || say "Until then the window cannot open; the commands work."

if [ $# -eq 0 ]; then
    set -- demo --open
fi
exec "$venv/bin/deployment-studio" "$@"
