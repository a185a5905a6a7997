# Hearith's commands. Each does its own set-up (scripts/setup.sh): as root on Debian it installs
# missing packages, otherwise it prints what to install.

SHELL := /bin/bash
CARGO ?= cargo
# The Python in which tests and benchmarks find python-paillier.
export HEARITH_PHE_PYTHON ?= $(CURDIR)/.venv/bin/python
# Seconds of fuzzing per target; `.ci/run` uses less.
FUZZ_SECONDS ?= 300
# --mutants: `make prove-arithmetic` also plants mistakes, which the proofs must find (more
# minutes).
MUTANTS ?=

.PHONY: help setup clean check container lint audit miri msrv doc docs wheel sdist release release-twice release-verify web js pictures-election sbom fuzz coverage formal boards plain-verilog hardware-tools prove-arithmetic gpu-kernels gpu-kernels-check
.PHONY: demo demo-python demo-election demo-dghv demo-service demo-survey
.PHONY: test test-hardware test-extras test-postgres test-full
.PHONY: bench bench-python bench-everyday bench-variants bench-everywhere bench-sql bench-rns bench-ntt bench-dghv bench-lattice bench-columns bench-recryption bench-service bench-election bench-election-server bench-proofs bench-distributed bench-gpu bench-web bench-js bench-postgres bench-inner-loop
.PHONY: synth synth-mesa synth-rns synth-coproc synth-dghv synth-ballot synth-memories synth-frequency synth-check

help: ## list these commands
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z%-]+):.*## /make \1\t/' | expand -t 18

demo: ## encrypt, sum and decrypt a real table, compare with plaintext sums
	@scripts/setup.sh build
	@scripts/demo.sh

demo-python: ## run the demo in Python and SQL, and compare DuckDB, the command line and plaintext sums
	@scripts/setup.sh test
	@scripts/demo_python.sh

demo-service: ## run the demo through a service on the loopback address, with two clients
	@scripts/setup.sh build
	@scripts/demo_service.sh

demo-election: ## cast a thousand ballots with a known result on a server, and verify them twice (SERVE=1: keep the server)
	@scripts/setup.sh build
	@scripts/demo_election.sh

demo-survey: ## run a survey of a thousand simulated people from form to totals in PostgreSQL (SERVE=1: keep the server)
	@scripts/setup.sh test
	@scripts/setup.sh postgres
	@scripts/demo_survey.sh

demo-dghv: ## add two numbers encrypted with FHE over the integers (broken parameters)
	@scripts/setup.sh build
	@scripts/demo_dghv.sh

check: ## check what changed since BASE (origin/main): formatting, lints, unit tests (a minute with a warm build)
	scripts/check_changes.py $(BASE)

test: ## run the tests of all software and of each hardware system's smallest model (a quarter of an hour)
	@scripts/setup.sh test
	scripts/test.sh

test-hardware: ## run all hardware tests, check small syntheses against synth/check.json, simulate plain Verilog, synthesise FuseSoC cores, and map one to cells
	@scripts/setup.sh test
	scripts/test.sh hardware cocotb
	$(MAKE) synth-check
	$(HARDWARE_PYTHON) synth/plain.py simulate
	$(YOSYS_TESTS) -k 'synthesised or mapped'

test-extras: ## run each benchmark once, and each fuzz target over its seeds and for five seconds
	@scripts/setup.sh test
	scripts/test.sh benches fuzz

test-%: ## run one part of the tests: rust, python, web, hardware, cocotb, benches, fuzz or a system
	@scripts/setup.sh test
	scripts/test.sh $*

test-postgres: ## test the PostgreSQL extension on each version with installed headers (installs Debian's)
	@scripts/setup.sh postgres
	scripts/postgres.sh test

docs: ## build the documentation site into target/site; scripts/docs.sh --charts redraws its charts first
	@scripts/setup.sh test
	scripts/docs.sh

test-full: ## run all tests, including long ones, Spark, Flower, notebooks, the site, and a minute of fuzzing per target
	@scripts/setup.sh test
	INCLUDE_IGNORED=1 scripts/test.sh rust python web hardware cocotb benches
	$(MAKE) synth-check ALL=1
	$(HARDWARE_PYTHON) synth/plain.py simulate
	HEARITH_ALL_TARGETS=1 $(YOSYS_TESTS)
	$(MAKE) test-postgres
	scripts/test_fhe.sh
	scripts/test_spark.sh
	scripts/test_flower.sh
	scripts/test_notebooks.sh
	scripts/docs.sh
	scripts/fuzz.sh 60

wheel: ## build the Python package's wheel in dist/
	@scripts/setup.sh test
	scripts/wheel.sh

sdist: ## build the Python package's source distribution in dist/
	@scripts/setup.sh test
	scripts/sdist.sh

release: ## build and test a release in dist/release, write bench/results/release.md (RELEASE_PARTS: only these parts)
	@scripts/setup.sh release
	scripts/release.sh $(if $(RELEASE_PARTS),--only $(RELEASE_PARTS))
	$(if $(RELEASE_PARTS),,scripts/release/report.py)

release-twice: ## rebuild the release (or RELEASE_PARTS) in another folder, and compare hashes with dist/release
	@scripts/setup.sh release
	scripts/release/twice.sh $(RELEASE_PARTS)

release-verify: ## verify the checksums, provenance and, with KEY=minisign.pub, the signature of dist/release
	scripts/release/verify.py dist/release $(if $(KEY),--key $(KEY))

sbom: ## write the dependencies of wheel, command line and election's pages to dist/ (CycloneDX)
	@scripts/setup.sh test
	scripts/sbom.py --out dist

bench: ## measure: Criterion, then the tables in bench/results (half an hour; leave the machine idle)
	@scripts/setup.sh test
	$(CARGO) bench --workspace --benches
	$(CARGO) run --release --package hearith-bench --bin compare
	$(CARGO) run --release --package hearith-bench --bin few
	$(CARGO) run --release --package hearith-bench --bin threads
	$(CARGO) run --release --package hearith-bench --bin seeds
	$(CARGO) run --release --package hearith-bench --bin timing

bench-python: ## compare arrays and scalars in Python with python-paillier, and measure memory (twenty minutes)
	@scripts/setup.sh test
	scripts/bench_python.sh

bench-everyday: ## run everyday Python lines here and in other libraries, and compare single additions with phe (minutes)
	@scripts/setup.sh test
	scripts/bench_everyday.sh

bench-variants: ## compare subgroup keys with DJN keys, write bench/results/variants.md (minutes; leave the machine idle)
	scripts/bench_variants.sh

bench-everywhere: ## compare the engines without AVX-512 with GMP and HEU (two minutes; leave the machine idle)
	scripts/bench_everywhere.sh

bench-sql: ## measure he_sum in DuckDB and on one Spark node (leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_sql.sh

bench-postgres: ## compare sums in PostgreSQL with the kernel, GMP and plaintext sums (ROWS: below a million; leave it idle)
	@scripts/setup.sh postgres
	scripts/bench_postgres.sh $(if $(ROWS),--rows $(ROWS) --reason "ROWS=$(ROWS)")

bench-rns: ## compare residue conversion with NTL and FLINT (a minute; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_rns.sh

bench-ntt: ## compare very long products with FLINT and GMP (leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_ntt.sh

gpu-kernels: ## compile the GPU kernels with nvcc from PyPI into crates/cuda/images (ten minutes; needs no GPU)
	scripts/gpu_kernels.sh

gpu-kernels-check: ## recompile the GPU kernels and compare them with those in the repository
	scripts/gpu_kernels.sh --check

bench-gpu: ## compare Paillier on this machine's GPU with CGBN (CGBN: its source, HEARITH_NVCC: a compiler; eight minutes)
	$(CARGO) build --release --package hearith-cuda --example card_rates
	$(CARGO) build --release --package hearith
	bench/gpu.sh --make-keys $${CARGO_TARGET_DIR:-target}/bench/gpu-keys $${CARGO_TARGET_DIR:-target}/release/hearith
	bench/gpu.sh --rates $${CARGO_TARGET_DIR:-target}/release/examples/card_rates --keys $${CARGO_TARGET_DIR:-target}/bench/gpu-keys \
		$${CGBN:+--cgbn "$$CGBN" --nvcc "$$HEARITH_NVCC"}

bench-dghv: ## compare encryption over the integers with GMP and the papers (ten minutes; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_dghv.sh

bench-lattice: ## compare the lattice scheme with fhe and TenSEAL, in HEARITH_TENSEAL_PYTHON (four minutes; leave it idle)
	scripts/bench_lattice.sh

bench-columns: ## compare every scheme on one column with phe, HEU and TenSEAL, in HEARITH_PEERS_PYTHON (five minutes)
	scripts/bench_columns.sh

bench-recryption: ## measure recryption over the integers and circuits on it (ten minutes; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_recryption.sh

bench-service: ## compare the service with the command line alone (five minutes; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_service.sh

bench-election: ## time verifying a record of 100 000 ballots, write bench/results/election.md (an hour; leave the machine idle)
	@scripts/setup.sh test
	$(CARGO) build --release --quiet --package hearith
	.venv/bin/python bench/python/election_verify.py

bench-election-server: ## measure the election's server, alone and with readers (eight minutes; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_election_server.sh

bench-proofs: ## compare proofs about ciphertexts with gmpy2 (minutes; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_proofs.sh

bench-distributed: ## time keys without a dealer, write bench/results/distributed-keygen.md (an hour; leave the machine idle)
	scripts/bench_distributed.sh

bench-inner-loop: ## time the loop from edit to tests for each crate, write bench/results/inner-loop.md (an hour; leave it idle)
	python3 bench/inner_loop.py

bench-pictures-election: ## take the documentation's pictures of the election's pages
	@scripts/setup.sh test
	scripts/election_pictures.sh

bench-web: ## measure the election's pages in Chromium (a minute; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_web.sh

bench-js: ## compare the JavaScript package with paillier-bigint (a minute; leave the machine idle)
	@scripts/setup.sh test
	scripts/bench_js.sh

js: ## build the JavaScript package in packages/js/dist
	@scripts/setup.sh test
	scripts/js.sh build

web: ## build the election's pages in web/dist, and print their SHA-256
	@scripts/setup.sh test
	scripts/web.sh build

fuzz: ## fuzz each parser for FUZZ_SECONDS (300)
	@scripts/setup.sh test
	scripts/fuzz.sh $(FUZZ_SECONDS)

lint: ## formatting, clippy with all features, documentation, dependencies, links and citations
	@scripts/setup.sh test
	scripts/lint.sh

audit: ## check dependencies against the advisory database (needs the network, or ADVISORIES=folder)
	@scripts/setup.sh test
	scripts/audit.sh $(ADVISORIES)

miri: ## run the arithmetic's unit tests in Miri, which finds undefined behaviour (needs a nightly toolchain)
	scripts/miri.sh

msrv: ## build with the oldest supported Rust
	scripts/msrv.sh

doc: ## build the API documentation in target/doc
	$(CARGO) doc --workspace --no-deps

# Yosys, nextpnr and Yices for the hardware, installed next to the oracles. SYNTH_JOBS is the number
# of parallel syntheses: each uses one core and up to a few GiB.
SYNTH_JOBS ?= 1
HARDWARE_PYTHON = .venv/bin/python
# Tests of scripts that need Yosys.
YOSYS_TESTS = $(HARDWARE_PYTHON) -m pytest --quiet -p no:cacheprovider --config-file=/dev/null --rootdir scripts scripts/tests/test_fusesoc.py scripts/tests/test_netlists.py
hardware-tools:
	@scripts/setup.sh test
	@$(HARDWARE_PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes --requirement synth/requirements.txt

synth: synth-mesa synth-rns synth-coproc synth-dghv synth-ballot synth-memories ## synthesise, place and route all hardware, write its pages in bench/results (many hours)

synth-mesa: hardware-tools ## synthesise only the arithmetic cores and MESA
	$(HARDWARE_PYTHON) synth/mesa.py --jobs $(SYNTH_JOBS)
	$(HARDWARE_PYTHON) synth/mesa_clocks.py --jobs $(SYNTH_JOBS)

synth-rns: hardware-tools ## synthesise only the residue units
	$(HARDWARE_PYTHON) synth/rns.py --jobs $(SYNTH_JOBS)

synth-coproc: hardware-tools ## synthesise only the Paillier co-processor's cores
	$(HARDWARE_PYTHON) synth/coproc.py --jobs $(SYNTH_JOBS)

synth-dghv: hardware-tools ## synthesise the multipliers of FHE over the integers, write bench/results/dghv-hardware.md (an hour)
	$(HARDWARE_PYTHON) synth/dghv.py --jobs $(SYNTH_JOBS)

synth-ballot: hardware-tools ## synthesise the block streams of the ballot machine, write bench/results/ballot-machine.md (an hour)
	$(HARDWARE_PYTHON) synth/ballot.py --jobs $(SYNTH_JOBS)

synth-memories: hardware-tools ## count the block RAMs of the library's memories, write bench/results/memories.md (minutes)
	$(HARDWARE_PYTHON) synth/memories.py --jobs $(SYNTH_JOBS)

synth-frequency: hardware-tools ## map cores to standard cells, route some on two families, write bench/results/frequency.md (HEARITH_LIBERTY: libraries; hours)
	$(HARDWARE_PYTHON) synth/frequency.py --jobs $(SYNTH_JOBS)

synth-check: hardware-tools ## synthesise small forms of changed designs, compare with synth/check.json (ALL=1: all; UPDATE=1: write it)
	$(HARDWARE_PYTHON) synth/check.py --jobs 2 $(if $(UPDATE),--update) $(if $(ALL),--all)

plain-verilog: hardware-tools ## write the designs as plain Verilog into target/plain/out, and simulate small ones in four-state logic
	$(HARDWARE_PYTHON) synth/plain.py simulate
	$(HARDWARE_PYTHON) synth/plain.py write target/plain/out

boards: hardware-tools ## synthesise the boards' examples, place and route what open tools can, into target/boards (ten minutes)
	$(HARDWARE_PYTHON) synth/boards.py

formal: hardware-tools ## prove library blocks and small cores at small widths, and check that the proofs find planted mistakes
	$(HARDWARE_PYTHON) synth/formal.py --mutants

prove-arithmetic: ## prove the arithmetic's kernels in Coq (MUTANTS=--mutants: check that the proofs find planted mistakes)
	@scripts/setup.sh proofs
	scripts/prove_arithmetic.py $(MUTANTS)

coverage: ## run the hardware tests with line coverage and cover points of rtl/ (an hour)
	@scripts/setup.sh test
	python3 synth/coverage.py

container: ## build the development environment of Containerfile as the image hearith-dev, with podman or docker
	scripts/container.py build

setup: ## install only what tests and benchmarks need
	@scripts/setup.sh test

clean: ## remove all build results, including the Python environment
	$(CARGO) clean
	rm -rf fuzz/corpus fuzz/artifacts dist .venv web/dist web/node_modules packages/js/dist packages/js/node_modules packages/js/bench/node_modules
