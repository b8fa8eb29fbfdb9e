#!/usr/bin/env bash
# Installs what the black-box tests need besides Rust: the official verification
# libraries and SDKs that receivers and producers use, in Python and JavaScript, strace, with
# which tests watch system calls, libfaketime, which sets a process's wall clock, and ip and unshare,
# which make a network namespace where public addresses can be reached (the test that does so needs root).
#
# It can be run again at any time; when everything is there it only looks, and is quick.
# A test is never skipped for want of a tool: whatever cannot be installed is named here,
# with how to get it, and the script fails.
#
# All of it goes to .tools/ (ignored by git), except Debian packages. The registries are the
# ones that pip, npm and apt are configured for.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.tools/venv
node_dir=$root/.tools/node

# Pinned by major version: a new major is a decision, a new minor is not.
python_packages=('standardwebhooks>=1,<2' 'svix>=2,<3')
node_packages=('standardwebhooks@1' 'svix@2')

say() { printf 'test-tools: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
has_faketime() { compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null; }
has_venv() { have python3 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

# --- programs -------------------------------------------------------------------------------

# Prints one line per missing program: its name, and the Debian package that has it.
missing_programs() {
  have python3 || echo 'python3 python3'
  has_venv || echo "python3's-venv-module python3-venv"
  have node || echo 'node nodejs'
  have npm || echo 'npm npm'
  have strace || echo 'strace strace'
  have ip || echo 'ip iproute2'
  have unshare || echo 'unshare util-linux'
  has_faketime || echo 'libfaketime faketime'
}

install_programs() {
  local missing
  missing=$(missing_programs)
  [[ -n $missing ]] || return 0

  if [[ $(id -u) == 0 && -e /etc/debian_version ]] && have apt-get; then
    local packages
    mapfile -t packages < <(cut -d' ' -f2 <<<"$missing" | sort -u)
    say "installing Debian packages: ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    missing=$(missing_programs)
    [[ -n $missing ]] || return 0
  fi

  say 'these programs are needed by the tests and are missing:'
  local program package
  while read -r program package; do
    say "  $program: on Debian or Ubuntu, as root: apt-get install $package; elsewhere, your system's package of that name"
  done <<<"$missing"
  exit 1
}

# --- packages -------------------------------------------------------------------------------

# True when $1 holds exactly what this script would install: the list is written last, so an
# interrupted installation counts as none.
is_installed() { [[ -f $1/.installed && $(<"$1/.installed") == "$2" ]]; }

install_python_packages() {
  local want="${python_packages[*]}"
  if is_installed "$venv" "$want" && "$venv/bin/python" -c 'import standardwebhooks, svix' 2>/dev/null; then
    return 0
  fi
  say "installing into .tools/venv: $want"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}" || {
    say "pip could not install $want. Its message is above; check that pip reaches its package index."
    exit 1
  }
  "$venv/bin/python" -c 'import standardwebhooks, svix'
  printf '%s' "$want" >"$venv/.installed"
}

# Loading is the test of the version of node: svix 2 declares 22, and runs on some older ones.
node_packages_load() {
  (cd "$node_dir" && node --input-type=module -e 'import "svix"; import "standardwebhooks";')
}

install_node_packages() {
  local want="${node_packages[*]}"
  if is_installed "$node_dir" "$want" && node_packages_load 2>/dev/null; then
    return 0
  fi
  say "installing into .tools/node: $want"
  rm -rf "$node_dir"
  mkdir -p "$node_dir"
  npm install --prefix "$node_dir" --loglevel=error --no-audit --no-fund --no-update-notifier "${node_packages[@]}" || {
    say "npm could not install $want. Its message is above; check that npm reaches its registry."
    exit 1
  }
  node_packages_load || {
    say "node $(node --version) cannot load $want. They ask for Node.js 22; install that, or a newer one, and run this again."
    exit 1
  }
  printf '%s' "$want" >"$node_dir/.installed"
}

install_programs
install_python_packages
install_node_packages
