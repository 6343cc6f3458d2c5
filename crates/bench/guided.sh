#!/usr/bin/env bash
# Builds that are guided by a profile: compiled with counters, run on what is typical, compiled again with what was counted.
#
#   guided.sh bench               target/guided/bench/use/release/outlast-bench, trained on the benchmarks, small
#   guided.sh wheel OUT [LEVEL]   a wheel in OUT, for processors of LEVEL (x86-64-v3), trained on the presets and the demo
#
# PROFILE names Cargo's profile of wheels (release), MATURIN_ARGS what maturin is told beside (--zig).
# Needs llvm-profdata of the compiler's own version (rustup component add llvm-tools); without it the build is a plain one, which
# the script says. Results are the same to the byte; see docs/decisions/0035-speed-is-gated-by-instructions.md.
set -euo pipefail
cd "$(dirname "$0")/../.."

kind=$1
place=$PWD/target/guided/$kind
profile=$place/merged.profdata
level=${3:+-Ctarget-cpu=$3}
# A folder for each level: Cargo compiles everything again in a folder whose flags have changed.
use=use${3:+-$3}
rm -rf "$place/counts"

# Compiles with the given flags into the given folder below target/guided: the benchmarks, or a wheel and where it goes.
build() {
  if [ "$kind" = bench ]; then
    RUSTFLAGS="$1" cargo build --locked --release --quiet --package outlast-bench --target-dir "$place/$2"
  else
    # shellcheck disable=SC2086 # several arguments
    RUSTFLAGS="$1" .venv/bin/maturin build --profile "${PROFILE:-release}" --locked --quiet --target-dir "$place/$2" --out "$3" ${MATURIN_ARGS:-}
  fi
}

train() {
  if [ "$kind" = bench ]; then
    "$place/counting/release/outlast-bench" --quick >/dev/null
  else
    rm -rf "$place/unpacked"
    .venv/bin/python -m zipfile -e "$place"/wheel/*.whl "$place/unpacked"
    for scenario in scenarios/presets/*.toml scenarios/demo/*.toml; do
      # Four terabytes say nothing that smaller drives do not.
      [ "$scenario" = scenarios/presets/pm1643-4t.toml ] && continue
      PYTHONPATH=$place/unpacked .venv/bin/python -m outlast run "$scenario" --quiet --json >/dev/null
    done
  fi
}

profdata=$(find "$(rustc --print sysroot)" -name llvm-profdata -print -quit)
if [ -z "$profdata" ]; then
  echo "== llvm-profdata is missing (rustup component add llvm-tools): built without a profile" >&2
  build "$level" "$use" "${2:-}"
  exit
fi
echo "== Compiling with counters"
rm -rf "$place/wheel"
build "-Cprofile-generate=$place/counts" counting "$place/wheel"
echo "== Running what is typical"
train
"$profdata" merge -o "$profile" "$place/counts"
echo "== Compiling with what was counted"
build "-Cprofile-use=$profile $level" "$use" "${2:-}"
