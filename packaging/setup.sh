# Functions that run.sh and test.sh share. POSIX sh; sourced, with $root set.

venv="$root/.venv"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 2; }

is_root() { [ "$(id -u)" = 0 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages when we may; otherwise names the exact command and returns 1.
apt_install() {
    [ $# -gt 0 ] || return 0
    if is_root && has apt-get; then
        say "Installing system packages: $*"
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return 0
        apt-get update -qq >/dev/null 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null && return 0
        say "apt-get could not install: $*"
        return 1
    fi
    if has apt-get; then
        say "Missing system packages. Install them with:"
        say "    sudo apt-get install $*"
    else
        say "Missing system packages (Debian's names; find your system's): $*"
    fi
    return 1
}

# Prints a Python that the studio supports, or nothing.
supported_python() {
    for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.10 python; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
}

# Makes .venv with a supported Python; leaves a working one alone.
make_venv() {
    if [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        return 0
    fi
    python=$(supported_python)
    if [ -z "$python" ]; then
        apt_install python3 python3-venv || die "Python 3.10 to 3.13 is needed."
        python=$(supported_python)
        [ -n "$python" ] || die "Python 3.10 to 3.13 is needed; set PYTHON=/path/to/python to choose one."
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install "$(basename "$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')")-venv" ||
            die "$python cannot make virtual environments."
    fi
    say "Making .venv with $("$python" --version 2>&1)"
    rm -rf "$venv"
    "$python" -m venv "$venv" || die "$python could not make $venv."
}

# install_studio EXTRAS: pip-installs the studio with these extras (a comma between two), unless that
# was done and no pin changed since. The stamp's lines: the checksum of the pins, then an extra each.
install_studio() {
    stamp="$venv/.deployment-studio-stamp"
    pins=$(cat "$root/pyproject.toml" "$root/packaging/constraints.txt" | cksum)
    missing=$1
    if [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$pins" ]; then
        missing=
        for extra in $(printf '%s' "$1" | tr ',' ' '); do
            grep -qx "$extra" "$stamp" || missing="$missing${missing:+,}$extra"
        done
        [ -n "$missing" ] || return 0
    fi
    set -- "$missing"
    say "Installing the pinned packages${1:+ with extras $1}: up to 3 GB, some minutes."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$root/packaging/constraints.txt" --editable "$root${1:+[$1]}" >&2 ||
        die "pip could not install the packages. Its own variables (PIP_INDEX_URL, HTTPS_PROXY, …) are honoured."
    [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$pins" ] || printf '%s\n' "$pins" >"$stamp"
    printf '%s\n' "$1" | tr ',' '\n' >>"$stamp"
}
