#!/usr/bin/env bash
# Cargo's runner of tests: runs one, and appends what it took to $OUTLAST_COSTS (seconds of the program, of the system, name), for tests/costs.py.
# CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=tests/costed.sh
name=${CARGO_PKG_NAME:-}
for argument in "${@:2}"; do
  case $argument in
    --list) exec "$@" ;;
    --*) ;;
    *) name+=" $argument" ;;
  esac
done
TIMEFORMAT="%U %S ${name//%/%%}"
{ time "$@" 2>&3; } 3>&2 2>>"${OUTLAST_COSTS:-/dev/null}"
