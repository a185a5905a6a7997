# Hearith's commands. Each does its own set-up (scripts/setup.sh): as root on Debian it installs what is missing, otherwise
# it says what to install.

SHELL := /bin/bash
CARGO ?= cargo
# Where tests and benchmarks find python-paillier.
export HEARITH_PHE_PYTHON ?= $(CURDIR)/.venv/bin/python
# Seconds of fuzzing a target; `.ci/run` takes a short look.
FUZZ_SECONDS ?= 300
# --mutants: `make prove-arithmetic` also plants mistakes, which the proofs must find (more minutes).
MUTANTS ?=

.PHONY: help setup clean check container lint audit miri msrv doc docs wheel sdist release release-twice release-verify web js pictures-election sbom fuzz coverage formal boards plain-verilog hardware-tools prove-arithmetic gpu-kernels gpu-kernels-check
.PHONY: demo demo-python demo-election demo-dghv demo-service demo-survey
.PHONY: test test-hardware test-extras test-postgres test-full
.PHONY: bench bench-python bench-everyday bench-variants bench-everywhere bench-sql bench-rns bench-ntt bench-dghv bench-lattice bench-columns bench-recryption bench-service bench-election bench-election-server bench-proofs bench-distributed bench-gpu bench-web bench-js bench-postgres bench-inner-loop
.PHONY: synth synth-mesa synth-rns synth-coproc synth-dghv synth-ballot synth-memories synth-asic synth-check

help: ## list these commands
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z%-]+):.*## /make \1\t/' | expand -t 18

demo: ## encrypt, add up and decrypt a real table, and compare with plain sums
	@scripts/setup.sh build
	@scripts/demo.sh

demo-python: ## the same in Python and SQL: DuckDB, the command line and plain sums side by side
	@scripts/setup.sh test
	@scripts/demo_python.sh

demo-service: ## the same through a service on the loopback address, by two clients at once
	@scripts/setup.sh build
	@scripts/demo_service.sh

demo-election: ## a thousand ballots of a known result through a server (SERVE=1 leaves it up), verified by two verifiers
	@scripts/setup.sh build
	@scripts/demo_election.sh

demo-survey: ## a salary survey from the browser's form through PostgreSQL to totals, with a thousand simulated people (SERVE=1 leaves it up)
	@scripts/setup.sh test
	@scripts/setup.sh postgres
	@scripts/demo_survey.sh

demo-dghv: ## add two numbers that are encrypted with FHE over the integers (broken parameters)
	@scripts/setup.sh build
	@scripts/demo_dghv.sh

check: ## check what changed since BASE (origin/main): formatting, lints, unit tests (a minute, if it was built before)
	scripts/check_changes.py $(BASE)

test: ## run the tests of all software, and of each hardware system's smallest model (a quarter of an hour)
	@scripts/setup.sh test
	scripts/test.sh

test-hardware: ## run all tests of the hardware, cocotb's included, compare small syntheses with synth/check.json, and simulate plain Verilog with four states
	@scripts/setup.sh test
	scripts/test.sh hardware cocotb
	$(MAKE) synth-check
	$(HARDWARE_PYTHON) synth/plain.py simulate

test-extras: ## run each benchmark once, and each fuzz target over its seeds and for five seconds
	@scripts/setup.sh test
	scripts/test.sh benches fuzz

test-%: ## run one part of them: rust, python, web, hardware, cocotb, benches, fuzz, or a system (`scripts/test.sh --list`)
	@scripts/setup.sh test
	scripts/test.sh $*

test-postgres: ## test the PostgreSQL extension on each PostgreSQL whose headers are here (installs Debian's)
	@scripts/setup.sh postgres
	scripts/postgres.sh test

docs: ## build the documentation site into target/site; scripts/docs.sh --charts draws its charts anew first
	@scripts/setup.sh test
	scripts/docs.sh

test-full: ## run everything: also the long tests, Spark, Flower, notebooks, the site, and a minute of fuzzing a target
	@scripts/setup.sh test
	INCLUDE_IGNORED=1 scripts/test.sh rust python web hardware cocotb benches
	$(MAKE) synth-check ALL=1
	$(HARDWARE_PYTHON) synth/plain.py simulate
	HEARITH_ALL_TARGETS=1 .venv/bin/python -m pytest --quiet -p no:cacheprovider --config-file=/dev/null --rootdir scripts scripts/tests/test_fusesoc.py
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

release: ## build all parts of a release in dist/release, try them, and write bench/results/release.md (RELEASE_PARTS: some of them alone)
	@scripts/setup.sh release
	scripts/release.sh $(if $(RELEASE_PARTS),--only $(RELEASE_PARTS))
	$(if $(RELEASE_PARTS),,scripts/release/report.py)

release-twice: ## build the parts again in another folder (RELEASE_PARTS), and compare their hashes with those in dist/release
	@scripts/setup.sh release
	scripts/release/twice.sh $(RELEASE_PARTS)

release-verify: ## verify the files of dist/release: checksums, provenance, and with KEY=minisign.pub the signature
	scripts/release/verify.py dist/release $(if $(KEY),--key $(KEY))

sbom: ## write what the wheel, the command line and the election's pages are made of to dist/ (CycloneDX)
	@scripts/setup.sh test
	scripts/sbom.py --out dist

bench: ## measure: Criterion, then the tables in bench/results (about half an hour; leave the machine alone)
	@scripts/setup.sh test
	$(CARGO) bench --workspace --benches
	$(CARGO) run --release --package hearith-bench --bin compare
	$(CARGO) run --release --package hearith-bench --bin few
	$(CARGO) run --release --package hearith-bench --bin threads
	$(CARGO) run --release --package hearith-bench --bin seeds
	$(CARGO) run --release --package hearith-bench --bin timing

bench-python: ## measure arrays and single numbers in Python beside python-paillier, and memory (twenty minutes)
	@scripts/setup.sh test
	scripts/bench_python.sh

bench-everyday: ## what everyday lines of Python give here and in other libraries, and single additions beside phe (minutes)
	@scripts/setup.sh test
	scripts/bench_everyday.sh

bench-variants: ## measure subgroup keys beside DJN keys, write bench/results/variants.md (some minutes; leave the machine alone)
	scripts/bench_variants.sh

bench-everywhere: ## measure the engines without AVX-512 beside GMP and HEU (two minutes; leave the machine alone)
	scripts/bench_everywhere.sh

bench-sql: ## measure he_sum in DuckDB and a node in Spark (leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_sql.sh

bench-postgres: ## measure sums in PostgreSQL beside the kernel, GMP and plain numbers (ROWS: fewer than a million; leave the machine alone)
	@scripts/setup.sh postgres
	scripts/bench_postgres.sh $(if $(ROWS),--rows $(ROWS) --reason "ROWS=$(ROWS)")

bench-rns: ## measure residue conversion beside NTL and FLINT (a minute; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_rns.sh

bench-ntt: ## measure very long products beside FLINT and GMP (leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_ntt.sh

gpu-kernels: ## compile the kernels of graphics cards with nvcc from PyPI into crates/cuda/images (ten minutes; no card is needed)
	scripts/gpu_kernels.sh

gpu-kernels-check: ## compile them again and compare with what the repository has
	scripts/gpu_kernels.sh --check

bench-gpu: ## measure Paillier on this machine's card beside CGBN, in CGBN (its source) and HEARITH_NVCC (a compiler) (eight minutes)
	$(CARGO) build --release --package hearith-cuda --example card_rates
	$(CARGO) build --release --package hearith
	bench/gpu.sh --make-keys $${CARGO_TARGET_DIR:-target}/bench/gpu-keys $${CARGO_TARGET_DIR:-target}/release/hearith
	bench/gpu.sh --rates $${CARGO_TARGET_DIR:-target}/release/examples/card_rates --keys $${CARGO_TARGET_DIR:-target}/bench/gpu-keys \
		$${CGBN:+--cgbn "$$CGBN" --nvcc "$$HEARITH_NVCC"}

bench-dghv: ## measure encryption over the integers beside GMP and the papers (ten minutes; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_dghv.sh

bench-lattice: ## measure the lattice scheme beside the crate fhe and TenSEAL, in HEARITH_TENSEAL_PYTHON (four minutes; leave the machine alone)
	scripts/bench_lattice.sh

bench-columns: ## measure every scheme on one column beside phe, HEU and TenSEAL, in HEARITH_PEERS_PYTHON (five minutes)
	scripts/bench_columns.sh

bench-recryption: ## measure recryption over the integers and circuits on it (ten minutes; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_recryption.sh

bench-service: ## measure the service beside the command line alone (five minutes; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_service.sh

bench-election: ## time the verification of a record of 100 000 ballots, write bench/results/election.md (an hour; leave the machine alone)
	@scripts/setup.sh test
	$(CARGO) build --release --quiet --package hearith
	.venv/bin/python bench/python/election_verify.py

bench-election-server: ## measure the election's server, alone and beside readers (eight minutes; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_election_server.sh

bench-proofs: ## measure proofs about ciphertexts beside gmpy2 (minutes; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_proofs.sh

bench-distributed: ## time keys without a dealer, five trustees, write bench/results/distributed-keygen.md (an hour; leave the machine alone)
	scripts/bench_distributed.sh

bench-inner-loop: ## time from an edit to the tests of each crate, write bench/results/inner-loop.md (an hour; leave the machine alone)
	python3 bench/inner_loop.py

bench-pictures-election: ## take the pictures of the election's pages that the documentation shows
	@scripts/setup.sh test
	scripts/election_pictures.sh

bench-web: ## measure the election's pages in Chromium (a minute; leave the machine alone)
	@scripts/setup.sh test
	scripts/bench_web.sh

bench-js: ## measure the JavaScript package beside paillier-bigint (a minute; leave the machine alone)
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

audit: ## ask the advisory database about dependencies (needs the network, or a copy of it: ADVISORIES=folder)
	@scripts/setup.sh test
	scripts/audit.sh $(ADVISORIES)

miri: ## run the arithmetic's unit tests in Rust's interpreter, which finds undefined behaviour (needs a nightly toolchain)
	scripts/miri.sh

msrv: ## build with the oldest Rust that is supported
	scripts/msrv.sh

doc: ## build the API documentation in target/doc
	$(CARGO) doc --workspace --no-deps

# Yosys, nextpnr and Yices for the hardware, beside the oracles. How many syntheses run at a time: each takes one core and up to some GiB.
SYNTH_JOBS ?= 1
HARDWARE_PYTHON = .venv/bin/python
hardware-tools:
	@scripts/setup.sh test
	@$(HARDWARE_PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes --requirement synth/requirements.txt

synth: synth-mesa synth-rns synth-coproc synth-dghv synth-ballot synth-memories ## synthesise, place and route all hardware, write bench/results/{mesa,mesa-clocks,rns,coproc,dghv-hardware,ballot-machine,memories}.md (many hours)

synth-mesa: hardware-tools ## the same of the arithmetic cores and MESA alone
	$(HARDWARE_PYTHON) synth/mesa.py --jobs $(SYNTH_JOBS)
	$(HARDWARE_PYTHON) synth/mesa_clocks.py --jobs $(SYNTH_JOBS)

synth-rns: hardware-tools ## the same of the residue units alone
	$(HARDWARE_PYTHON) synth/rns.py --jobs $(SYNTH_JOBS)

synth-coproc: hardware-tools ## the same of the Paillier co-processor's cores alone
	$(HARDWARE_PYTHON) synth/coproc.py --jobs $(SYNTH_JOBS)

synth-dghv: hardware-tools ## synthesise the multipliers of FHE over the integers, write bench/results/dghv-hardware.md (an hour)
	$(HARDWARE_PYTHON) synth/dghv.py --jobs $(SYNTH_JOBS)

synth-ballot: hardware-tools ## synthesise the block streams of the ballot machine, write bench/results/ballot-machine.md (an hour)
	$(HARDWARE_PYTHON) synth/ballot.py --jobs $(SYNTH_JOBS)

synth-memories: hardware-tools ## count the block RAMs that the library's memories become, write bench/results/memories.md (minutes)
	$(HARDWARE_PYTHON) synth/memories.py --jobs $(SYNTH_JOBS)

synth-asic: hardware-tools ## map cores to standard cells, write bench/results/frequency.md (HEARITH_LIBERTY names the libraries; half an hour)
	$(HARDWARE_PYTHON) synth/asic.py --jobs $(SYNTH_JOBS)

synth-check: hardware-tools ## synthesise small forms of the hardware that changed and compare with synth/check.json (minutes; ALL=1: of all, UPDATE=1 writes it)
	$(HARDWARE_PYTHON) synth/check.py --jobs 2 $(if $(UPDATE),--update) $(if $(ALL),--all)

plain-verilog: hardware-tools ## write the designs as plain Verilog into target/plain/out, and simulate small ones with four states (minutes)
	$(HARDWARE_PYTHON) synth/plain.py simulate
	$(HARDWARE_PYTHON) synth/plain.py write target/plain/out

boards: hardware-tools ## synthesise the boards' examples, place and route what open tools can, into target/boards (ten minutes)
	$(HARDWARE_PYTHON) synth/boards.py

formal: hardware-tools ## prove the library's blocks and small cores at small widths, and that the proofs find planted mistakes
	$(HARDWARE_PYTHON) synth/formal.py --mutants

prove-arithmetic: ## prove the arithmetic's kernels in Coq (MUTANTS=--mutants: and that the proofs find planted mistakes)
	@scripts/setup.sh proofs
	scripts/prove_arithmetic.py $(MUTANTS)

coverage: ## run the hardware tests with line coverage and cover points of rtl/ (an hour)
	@scripts/setup.sh test
	python3 synth/coverage.py

container: ## build the development environment of Containerfile as the image hearith-dev, with podman or docker
	scripts/container.py build

setup: ## install what tests and benchmarks need, and nothing else
	@scripts/setup.sh test

clean: ## remove everything that was built, the Python environment too
	$(CARGO) clean
	rm -rf fuzz/corpus fuzz/artifacts dist .venv web/dist web/node_modules packages/js/dist packages/js/node_modules packages/js/bench/node_modules
