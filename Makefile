# Everything that a developer does here. `make setup` needs Rust, Python 3.11 or newer, a C compiler and make.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# How the extension is optimised: ci, for a checkout, or release, some tenths faster, which takes four times as long to build.
PROFILE ?= ci
export PROFILE
# What users install is always a release, unless the command line says otherwise.
wheel wheel-v3 release: PROFILE := release
CARGO_FLAGS := --locked --workspace

.PHONY: help begun setup demo test test-rust test-python random-scenarios nightly show-causes fit-coverage test-guest nvme-session nvme-f2fs test-kill lint lint-rust lint-python format bench bench-quick bench-python bench-sweep bench-mqsim bench-small bench-scale bench-instructions bench-instructions-release hashes speed-tables wheel wheel-v3 sdist capi release-dry-run release try-packages first-policy ten-minutes first-use docs results rejudge picture live-picture collection-picture tail-picture drives-picture serve-demo torture-programs torture-table scenario-schema schema figures shapes lock clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

# By the pip of that Python, where it has one: to give the environment its own first takes as long as all that follows.
UV = "$$(grep -o '^uv==[^ ]*' requirements.lock)"
BRING_UV = { rm -rf .venv; base=$$(command -v $(PYTHON)); \
	  { $$base -m venv --without-pip .venv && $$base -m pip --python $(BIN)/python install --quiet $(UV) 2>/dev/null; } \
	  || { $$base -m venv --clear .venv && $(BIN)/python -m pip install --quiet $(UV); }; }

.venv/tools: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "Rust is needed: no cargo on the PATH" >&2; exit 1; }
	@echo "== Python packages into .venv"
	@test -x $(BIN)/uv || $(BRING_UV)
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@touch $@
	@$(BIN)/python python/outlast/report/bundle.py
	-@$(BIN)/python tests/axe.py

# While Python's packages come, which keeps one core busy: what most of the crates wait for.
begun:
	@test .venv/tools -nt requirements.lock || { cargo build --locked --quiet --profile $(PROFILE) --package outlast-units >/dev/null 2>&1 & }

setup: begun .venv/tools ## build and install into .venv; leaves .venv/bin/outlast
	@test -x $(BIN)/outlast || echo "== Building the simulator: the first time takes some minutes, later ones seconds"
	@mkdir -p target
	@env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --uv --profile $(PROFILE) --locked --quiet >target/setup.log 2>&1 \
	  || { cat target/setup.log >&2; exit 1; }
	@echo "== Ready: .venv/bin/outlast --help"

# How many drives make fit-coverage draws.
DRIVES ?= 50
# How often make test-kill kills each server.
KILLS ?= 100

DEMO := idr cdr cdr-star

demo: setup ## a die fails in a RAID-5 of eight drives and is repaired in four ways; out/demo/report.html
	@echo "== A die fails in one of eight drives under a database's load. Four ways to make it good, two at a time: scenarios/demo"
	@printf '%s\n' assist $(DEMO) | xargs -P 2 -I % sh -c '$(BIN)/outlast run scenarios/demo/%.toml --out out/demo/% --force --quiet && echo "   % done: out/demo/%/report.html"'
	@$(BIN)/outlast report out/demo/assist $(DEMO:%=out/demo/%) -o out/demo/report.html
	@echo "== Open $(CURDIR)/out/demo/report.html in a browser"

test: ## all tests, Rust's and then Python's, whatever becomes of the first; the last line tells of both
	@$(PYTHON) tests/run_both.py run "$(MAKE) --no-print-directory test-rust" "$(MAKE) --no-print-directory test-python"

test-rust: ## the simulator's own tests
	@echo "== Rust tests (the first build takes a few minutes)"
	@if cargo nextest --version >/dev/null 2>&1; \
	then cargo nextest run $(CARGO_FLAGS) --cargo-quiet --no-fail-fast; \
	  said=$$(cargo test $(CARGO_FLAGS) --doc --quiet 2>&1) || { echo "$$said"; exit 1; }; \
	  echo "== Crates whose documentation has examples, which ran: $$(grep -c '^test result: ok. [1-9]' <<<"$$said")"; \
	else cargo test $(CARGO_FLAGS); fi

# Tests of one file share what they prepare, so they go to one process; 0: all in this one. Files begin in the order of tests/hooks.py.
# One for each processor, from two to four: more would wait for the longest file.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(max(len(os.sched_getaffinity(0)), 2), 4))' 2>/dev/null || echo 2)

test-python: setup ## tests of the command line, the Python package, reports and the documentation, WORKERS files at a time (one for each processor, 2 to 4)
	@echo "== Python tests"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# How many random scenarios, and the seed of the first one.
COUNT ?= 5000
FIRST ?= 0

random-scenarios: setup ## COUNT=5000 scenarios drawn at random from seed FIRST=0 on, two at a time: refused in one line, or every law kept; for nightly runs
	@PYTHONPATH=tests $(BIN)/python -m random_scenarios run --first $(FIRST) --count $(COUNT) --processes 2 --untimed

# How many rounds of property tests, each by a seed of its own.
ROUNDS ?= 8

nightly: setup ## what .ci/run draws, in many draws: ROUNDS=8 rounds of all Rust tests, long lives of drives, ten thousand configurations of handles and of SLC caches, five hundred killed servers, forged state, random scenarios, all pages of the site, and the mutations that tests must find
	@for round in $$(seq $(ROUNDS)); do \
	  export PROPTEST_RNG_SEED=$$((RANDOM << 15 | RANDOM)); echo "== Round $$round: PROPTEST_RNG_SEED=$$PROPTEST_RNG_SEED"; \
	  cargo nextest run $(CARGO_FLAGS) --cargo-quiet --no-fail-fast; \
	done
	@echo "== Long lives of drives"
	@PROPTEST_CASES=2000 cargo nextest run --locked --cargo-quiet --package outlast-ssd promise::
	@PROPTEST_CASES=200 cargo nextest run --locked --cargo-quiet --package outlast-ssd mount::
	@echo "== Ten thousand configurations of handles"
	@cargo nextest run --locked --cargo-quiet --package outlast-ftl --run-ignored only configurations::
	@echo "== Ten thousand SLC caches"
	@cargo nextest run --locked --cargo-quiet --package outlast-ftl --run-ignored only slc_cache::
	@echo "== Five hundred kills under NVMe/TCP, of servers in the process and of processes"
	@cargo nextest run --locked --cargo-quiet --package outlast-serve --run-ignored only nvme::kills::
	@echo "== Forged state"
	@seed=$$((RANDOM << 15 | RANDOM)); echo "PROPTEST_RNG_SEED=$$seed"; \
	  OUTLAST_FORGED_SEEDS=100 OUTLAST_ALL_CASES=1 PROPTEST_RNG_SEED=$$seed cargo nextest run --locked --cargo-quiet --package outlast-serve --package outlast-array forged:: own_state::
	@$(MAKE) --no-print-directory -o setup random-scenarios
	@echo "== All pages of the site"
	@OUTLAST_SITE_PAGES=100000 $(BIN)/python -m pytest -q tests/test_site.py
	@echo "== Instructions of a release"
	@$(MAKE) --no-print-directory bench-instructions-release ARGS=--without-caches
	@echo "== Mutations"
	@$(PYTHON) tests/mutations.py

show-causes: setup ## whether the parts of every request sum to its latency, on every preset
	@$(BIN)/python tests/logged_presets.py

fit-coverage: setup ## how often the intervals of outlast fit hold the truth, over DRIVES=50 drives drawn at random
	@$(BIN)/python tests/fit_coverage.py --drives $(DRIVES) --docs docs/guide/fit.md

nvme-session: setup ## the session in the guide to NVMe/TCP, printed by a virtual machine
	$(BIN)/python docs/make_nvme_session.py

nvme-f2fs: setup ## the table in the guide to zones on F2FS, measured in virtual machines
	$(BIN)/python docs/make_f2fs.py

test-guest: setup ## Linux's own RAID, NBD client and NVMe/TCP host in virtual machines over served drives, with Linux 6.1 and 6.12 (Debian 12; needs qemu-system-x86, kmod, cpio)
	@tests/guest/fetch.sh
	@tests/guest/fetch_newer.sh
	@$(BIN)/python -m pytest tests/guest

test-kill: setup ## kill -9 of served drives and arrays under load, KILLS=100 times each, and their logs cut off at every byte that matters
	@$(BIN)/python -m pytest tests/test_serve_kill.py --kills $(KILLS) --timeout 7200 -s
	@cargo test --locked --package outlast-serve --test all kill

PYTHON_SOURCES := python tests docs release examples/notebooks

lint: lint-rust lint-python ## formatting, clippy, ruff, mypy

lint-rust:
	rustfmt --edition 2024 --check $$(git ls-files '*.rs')
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings

lint-python: .venv/tools
	$(BIN)/ruff check --quiet $(PYTHON_SOURCES)
	$(BIN)/ruff format --quiet --check $(PYTHON_SOURCES)
	$(BIN)/mypy --no-error-summary

format: .venv/tools ## format all sources
	rustfmt --edition 2024 $$(git ls-files '*.rs')
	$(BIN)/ruff check --fix-only $(PYTHON_SOURCES)
	$(BIN)/ruff format $(PYTHON_SOURCES)

bench: ## requests per CPU-second, bytes per unit, erasure codes
	cargo run --locked --release --package outlast-bench -- $(ARGS)

bench-sweep: setup ## CPU-milliseconds a point of a sweep, kept already or run, beside its simulation
	$(BIN)/python tests/bench_sweep.py $(ARGS)

bench-mqsim: setup ## requests per CPU-second beside MQSim (MQSIM=path/to/MQSim, built by its own make), in turns, into docs/reference/speed.md
	$(BIN)/python docs/make_peers.py $(MQSIM) $(ARGS)

bench-small: setup ## CPU-milliseconds of starting, small runs, points of sweeps and served requests, beside peers, into docs/reference/speed.md
	$(BUILD_BENCH) --profile $(PROFILE)
	$(BIN)/python docs/make_speed_small.py target/$(PROFILE)/outlast-bench

bench-scale: setup ## cost and memory of a request on drives to 4 TiB, arrays to 64 members and traces to 100 million records, into docs/reference/speed.md (9 GiB of memory)
	$(BIN)/python docs/make_scale.py $(ARGS)

bench-python: setup ## operations a second out of outlast.Drive in Python
	$(BIN)/python tests/bench_drive.py $(ARGS)

# Selected together with the extension, its crates are compiled with the same features, and so once for both; pyo3 as maturin
# had it compiled, or all that is above it would be compiled anew by each of the two.
PYO3_CONFIG = $(firstword $(wildcard $(CURDIR)/target/maturin/pyo3-config-*.txt))
BUILD_BENCH = $(if $(PYO3_CONFIG),PYO3_CONFIG_FILE=$(PYO3_CONFIG)) cargo build --locked --quiet --package outlast-python --package outlast-bench --bin outlast-bench

bench-quick: ## every benchmark at a hundredth of its size
	$(BUILD_BENCH) --profile $(PROFILE)
	target/$(PROFILE)/outlast-bench --quick

bench-instructions: ## instructions a request, beside crates/bench/instructions.txt (needs valgrind); 3 % more than there or 5 % more than ever fails
	$(BUILD_BENCH) --profile ci
	target/ci/outlast-bench instructions --check $(ARGS)
	$(if $(findstring --write,$(ARGS)),$(PYTHON) docs/make_speed.py instructions)

bench-instructions-release: ## the same of a release, beside crates/bench/instructions-release.txt, which the profile of a checkout does not touch (written where there is none); for nightly runs
	cargo build --locked --release --quiet --package outlast-bench
	target/release/outlast-bench instructions $(if $(wildcard crates/bench/instructions-release.txt),--check,--write) $(ARGS)

hashes: ## results of some three hundred small runs, hashed, beside crates/bench/hashes.txt
	$(BUILD_BENCH) --profile $(PROFILE)
	target/$(PROFILE)/outlast-bench hashes --check $(ARGS)

speed-tables: ## the tables of docs/reference/speed.md, from a run of all benchmarks on a machine that is quiet
	crates/bench/guided.sh bench
	$(PYTHON) docs/make_speed.py target/guided/bench/use/release/outlast-bench

# What packages hold of the commit that they are made of; there while they are made.
COMMIT := python/outlast/_commit.txt
NAME_COMMIT = trap 'rm -f $(COMMIT) $(LEVEL)' EXIT; git describe --always --exclude='*' --abbrev=10 --dirty=+ > $(COMMIT)

wheel: .venv/tools ## a wheel for any processor of this kind, in dist/, compiled twice: the second time by a profile
	@$(BIN)/python python/outlast/report/bundle.py --required
	@$(NAME_COMMIT); crates/bench/guided.sh wheel dist

sdist: .venv/tools ## the source distribution, in dist/
	@$(BIN)/python python/outlast/report/bundle.py --required
	@$(NAME_COMMIT); $(BIN)/maturin sdist -o dist

try-packages: .venv/tools ## wheel and sdist installed in empty environments outside the checkout, and what they can do there, with sizes and times; less with ARGS=--brief
	@$(BIN)/python python/outlast/report/bundle.py --required
	@$(NAME_COMMIT); $(BIN)/python tests/try_packages.py $(ARGS)

# The linker for an old glibc; 400 MB, so that only releases bring it.
ZIG := target/zig

$(ZIG)/installed: release/zig.lock
	@$(BIN)/python -m pip install --quiet --upgrade --require-hashes --target $(ZIG) -r $<
	@touch $@

release: .venv/tools $(ZIG)/installed ## all files of a release in dist/outlast-VERSION/: wheels for glibc 2.28, sdist, SBOM, notes, checksums
	@$(BIN)/python python/outlast/report/bundle.py --required
	@$(NAME_COMMIT); PYTHONPATH=$(CURDIR)/$(ZIG) $(BIN)/python release/make.py $(ARGS)

capi: ## liboutlast, the C interface, into python/outlast/lib: for `outlast c-api --lib`
	cargo build --locked --release --quiet --package outlast-capi
	@mkdir -p python/outlast/lib
	@library=liboutlast.$$([ "$$(uname)" = Darwin ] && echo dylib || echo so); \
	  cp target/release/$$library python/outlast/lib/ && strip -S python/outlast/lib/$$library 2>/dev/null || true
	@echo "== liboutlast: $(CURDIR)/python/outlast/lib"

# The tag of a release, where there is one.
TAG ?=

release-dry-run: .venv/tools ## what would stop a release on a hosted runner, without building or uploading anything (TAG=v0.1.0)
	@PYTHONPATH=python $(BIN)/python release/dry_run.py --tag "$(TAG)"

# Wheels have no tag for a level of x86-64: this one says itself, when it is imported, that the processor is too old for it.
LEVEL := python/outlast/_level.txt

wheel-v3: .venv/tools ## a wheel for processors of the level x86-64-v3 (Haswell, Zen and later), in dist/x86-64-v3/
	@$(BIN)/python python/outlast/report/bundle.py --required
	@$(NAME_COMMIT); echo x86-64-v3 > $(LEVEL); crates/bench/guided.sh wheel dist/x86-64-v3 x86-64-v3

# Which wheel first-policy and ten-minutes install; made where there is none.
WHEEL ?= $(wildcard dist/*.whl)

first-policy: $(if $(WHEEL),.venv/tools,wheel) ## seconds from pip install of the wheel (WHEEL=...) to the plot of a policy of one's own, in a fresh venv
	@$(BIN)/python tests/first_policy.py $(or $(WHEEL),dist/*.whl)

first-use: setup ## five tasks of new users by the clock: a researcher, an engineer, a database, arrays, a class (TASKS=teacher)
	@$(BIN)/python tests/first_use/run.py $(TASKS)

ten-minutes: $(if $(WHEEL),.venv/tools,wheel) ## seconds of every command of docs/guide/ten-minutes.md, from pip install of the wheel (WHEEL=...), in a fresh venv
	@$(BIN)/python tests/ten_minutes.py $(or $(WHEEL),dist/*.whl) $(ARGS)

docs: setup ## the documentation as a site in site/, with the output of the notebooks of examples/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "== Documentation: site/index.html"

results: setup ## every published number beside ours, with its error, in docs/results.md: simulates real drives and experiments anew (twelve minutes of CPU)
	$(BIN)/outlast reproduce drives warp cachelib-fdp zn540 client-drives heat --traces /nowhere --out out/results
	$(BIN)/python docs/make_results.py out/results/reproduction.json

rejudge: setup ## one paper in turn (PAPER=hrm: that one) run again in the quick mode, and its verdicts compared with docs/papers/verdicts.json
	paper=$${PAPER:-$$($(BIN)/python docs/make_verdicts.py --turn $$(git rev-list --count HEAD 2>/dev/null || echo 0))} && \
	$(BIN)/outlast reproduce $$paper --quick --traces /nowhere --out out/rejudged/$$paper && \
	$(BIN)/python docs/make_verdicts.py --check out/rejudged/$$paper/reproduction.json

picture: demo ## the picture of the README, from the demo's report (needs Chromium)
	$(BIN)/python docs/make_picture.py out/demo/report.html docs/report.png

live-picture: setup ## the picture of the live page in the README (needs Chromium and fio)
	$(BIN)/python docs/make_live_picture.py docs/live.png

collection-picture: setup ## the picture of the map of superblocks in the guide on collection (needs Chromium)
	$(BIN)/python docs/make_collection_picture.py docs/collection.png

tail-picture: setup ## the picture of a tail in the README (needs Chromium)
	@$(BIN)/outlast run demo --set run.causes=true --out out/tail --force --quiet
	@$(BIN)/outlast run demo --set run.causes=true --set 'device.timing.suspend={program=true, erase=true, overhead="20us", limit=8}' --out out/suspend --force --quiet
	$(BIN)/python docs/make_tail.py out/tail out/suspend docs/tail.png

drives-picture: setup ## the tables and the picture of real drives in the documentation (needs Chromium)
	$(BIN)/outlast reproduce drives
	$(BIN)/python docs/make_drives.py out/drives-quick/reproduction.json

serve-demo: setup ## a file system on a served array, through the death of a die and a loss of power (best as root, with FUSE)
	@$(BIN)/python docs/serve_demo.py

# What the cases use beside what Debian has; PostgreSQL, XFS and btrfs are packages of Debian's.
TORTURE_PROGRAMS := out/torture-programs

$(TORTURE_PROGRAMS):
	@$(BIN)/python -m pip install --quiet --target $@ lmdb==3.0.0 rocksdict==0.3.29

torture-programs: setup $(TORTURE_PROGRAMS) ## what cases of torture use and Debian does not have: LMDB and RocksDB for Python

torture-table: torture-programs ## real programs through the loss of power, and the table of what was found (as root; ARGS=--resume goes on)
	@PYTHONPATH=$(CURDIR)/$(TORTURE_PROGRAMS) $(BIN)/python tests/torture/table.py --write $(ARGS)

# Of types of Rust: a small program of its own, not optimised.
scenario-schema:
	@mkdir -p target
	CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo run --locked --quiet --package outlast-scenario --example schema > target/scenario.schema.json
	cp target/scenario.schema.json python/outlast/scenario.schema.json
	target/debug/examples/schema names > crates/scenario/src/synonyms/settings.txt

schema: scenario-schema setup ## the committed JSON Schemas of scenario and sweep files, and the names of settings that editors complete
	$(BIN)/outlast schema --sweep > docs/reference/sweep.schema.json
	$(BIN)/python docs/make_settings.py

shapes: setup ## the form of result.json and its tables, which every result that is read must have, from results of all kinds
	$(BIN)/python docs/make_shapes.py

figures: setup ## what the reference of figures says of causes, and the figures that sweeps know
	$(BIN)/python docs/make_figures.py

lock: .venv/tools ## requirements.lock from pyproject.toml, and the linker of releases
	echo 'ziglang>=0.17,<0.18' | $(BIN)/uv pip compile - --generate-hashes --universal --python-version 3.11 \
	  --custom-compile-command "make lock" --quiet -o release/zig.lock
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra arrow --extra cluster --extra serve --extra fit --extra figures --extra search --generate-hashes --universal \
	  --python-version 3.11 --custom-compile-command "make lock" --quiet -o requirements.lock

clean: ## remove what was built
	rm -rf target .venv out site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis python/outlast/*.so
	find python tests docs -name __pycache__ -type d -exec rm -rf {} +
