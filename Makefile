# Hearith's commands. Each does its own set-up (scripts/setup.sh): as root on Debian it installs what is missing, otherwise
# it says what to install.

SHELL := /bin/bash
CARGO ?= cargo
# Where tests and benchmarks find python-paillier.
export HEARITH_PHE_PYTHON ?= $(CURDIR)/.venv/bin/python
# Seconds of fuzzing a target: a short look in `make test`, a longer one in `make fuzz`.
FUZZ_SECONDS ?= 300

.PHONY: help demo demo-python test test-python test-full wheel bench bench-python bench-sql bench-rns fuzz lint audit doc hardware-tools synth \
	synth-mesa synth-rns formal coverage setup clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

demo: ## encrypt, add up and decrypt a real table, and compare with plain sums
	@scripts/setup.sh build
	@scripts/demo.sh

demo-python: ## the same in Python and SQL: DuckDB, the command line and plain sums side by side
	@scripts/setup.sh test
	@scripts/demo_python.sh

test: ## run every test, the examples in the documentation, and each fuzz target for seconds
	@scripts/setup.sh test
	$(CARGO) test --workspace --all-targets
	$(CARGO) test --workspace --doc
	scripts/test_python.sh
	FUZZ_SEED=1 scripts/fuzz.sh 5

test-python: ## run the Python package's tests, python-paillier's own suite among them
	@scripts/setup.sh test
	scripts/test_python.sh

wheel: ## build the Python package's wheel in dist/
	@scripts/setup.sh test
	scripts/wheel.sh

test-full: ## the same with the long tests and a minute of fuzzing a target
	@scripts/setup.sh test
	$(CARGO) test --workspace --all-targets -- --include-ignored
	$(CARGO) test --workspace --doc
	scripts/test_python.sh
	scripts/test_spark.sh
	scripts/fuzz.sh 60

bench: ## measure: Criterion, then the tables in bench/results (about half an hour; leave the machine alone)
	@scripts/setup.sh test
	$(CARGO) bench --workspace --benches
	$(CARGO) run --release --package hearith-bench --bin compare
	$(CARGO) run --release --package hearith-bench --bin seeds
	$(CARGO) run --release --package hearith-bench --bin timing

bench-python: ## measure arrays in Python beside python-paillier (a quarter of an hour)
	@scripts/setup.sh test
	scripts/bench_python.sh

bench-sql: ## measure he_sum in DuckDB and a node in Spark (leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_sql.sh

bench-rns: ## measure residue conversion beside NTL and FLINT (a minute; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_rns.sh

fuzz: ## fuzz each parser for FUZZ_SECONDS (300)
	@scripts/setup.sh test
	scripts/fuzz.sh $(FUZZ_SECONDS)

lint: ## formatting, clippy, documentation, licences and sources of dependencies
	@scripts/setup.sh test
	scripts/lint.sh

audit: ## ask the advisory database about dependencies (needs the network and cargo-deny)
	$(CARGO) deny check

doc: ## build the API documentation in target/doc
	$(CARGO) doc --workspace --no-deps

# Yosys, nextpnr and z3 for the hardware, beside the oracles.
HARDWARE_PYTHON = .venv/bin/python
hardware-tools:
	@scripts/setup.sh test
	@$(HARDWARE_PYTHON) -m pip install --quiet --disable-pip-version-check --requirement synth/requirements.txt

synth: synth-mesa synth-rns ## synthesise, place and route all hardware, write bench/results/{mesa,rns}.md (hours)

synth-mesa: hardware-tools ## the same of the arithmetic cores and MESA alone
	$(HARDWARE_PYTHON) synth/mesa.py

synth-rns: hardware-tools ## the same of the residue units alone
	$(HARDWARE_PYTHON) synth/rns.py

formal: hardware-tools ## prove small hardware cores at small widths
	$(HARDWARE_PYTHON) synth/formal.py

coverage: ## run the hardware tests with line and toggle coverage of rtl/
	@scripts/setup.sh test
	python3 synth/coverage.py

setup: ## install what tests and benchmarks need, and nothing else
	@scripts/setup.sh test

clean: ## remove everything that was built, the Python environment too
	$(CARGO) clean
	rm -rf fuzz/target fuzz/corpus fuzz/artifacts dist .venv
