# Sourced by the other scripts: prepare_environment makes the Python environment of this project, or brings it up to date.
# Sets ROOT (the project's folder) and PYTHON (the environment's interpreter). BATCHLP_VENV names another place for it.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${BATCHLP_VENV:-$ROOT/.venv}
PYTHON=$VENV/bin/python
OURS=$VENV/made-for-batchlp
STAMP=$VENV/batchlp-installed

# Prints the first Python on the path that is at least 3.11.
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    echo "batchlp needs Python 3.11 or newer: found none of python3, python3.11 to python3.14 that is; install one" >&2
    return 1
}

# Makes an empty environment. Some systems ship Python without ensurepip; then the system's pip fills the environment.
make_environment() {
    local base
    base=$(find_python) || return 1
    if [ -d "$VENV" ] && [ ! -f "$OURS" ] && [ -n "$(ls -A "$VENV")" ]; then
        echo "$VENV holds no working Python 3.11 and was not made here; remove it, or name another place in BATCHLP_VENV" >&2
        return 1
    fi
    echo "making the environment $VENV with $("$base" --version)" >&2
    "$base" -m venv --clear "$VENV" >/dev/null 2>&1 || "$base" -m venv --clear --without-pip "$VENV" || return 1
    touch "$OURS"
}

# Runs pip for the environment: its own, or that of the Python that made it.
environment_pip() {
    if "$PYTHON" -m pip --version >/dev/null 2>&1; then
        "$PYTHON" -m pip "$@"
    else
        "$(find_python)" -m pip --python "$PYTHON" "$@"
    fi
}

prepare_environment() {
    local wanted
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || make_environment || return 1
    wanted=$(cd "$ROOT" && { pwd; "$PYTHON" --version; cat pyproject.toml scripts/constraints.txt; } | cksum)
    if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$wanted" ]; then
        return 0
    fi
    echo "installing batchlp and the versions it is tested with (scripts/constraints.txt); this takes a minute or two" >&2
    rm -f "$STAMP"
    (cd "$ROOT" && environment_pip install --quiet --disable-pip-version-check -c scripts/constraints.txt -e '.[test,dev,parquet,pdhg,report]') || return 1
    echo "$wanted" >"$STAMP"
}
