# The commands a contributor needs, by name. `make help` lists them.
# Written for GNU make 4.3 with a POSIX shell; nothing else is assumed but a Rust toolchain.

CARGO ?= cargo
# Further arguments for demo, test, bench and bench-store: make demo ARGS="--help"
ARGS ?=

# Tools that this repository installs for itself live here, not in the user's home.
TOOLS := .tools
CARGO_DENY := $(TOOLS)/bin/cargo-deny

.DEFAULT_GOAL := help
.PHONY: help demo test test-tools lint audit bench bench-store

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run Gonets with a producer and receivers of its own, to look at (ARGS)
	$(CARGO) run -p gonets --bin gonets -- demo $(ARGS)

test: test-tools ## Run all tests, after installing what they need (ARGS)
	$(CARGO) test --workspace --exclude gonets $(ARGS)
	$(CARGO) test -p gonets --bins $(ARGS)
	@# Black-box tests measure latency and memory: one at a time. Those of the rules mostly wait.
	$(CARGO) test -p gonets --test it $(ARGS) -- --skip rules:: --test-threads=1
	$(CARGO) test -p gonets --test it $(ARGS) -- rules:: --test-threads=8

test-tools: ## Install what the tests need besides Rust; quick when it is all there
	@scripts/test-tools.sh

lint: ## Check formatting and lints; warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

audit: $(CARGO_DENY) ## Check the dependencies' licences, sources, duplicates and banned crates
	$(CARGO_DENY) check bans licenses sources

# A long build, once; later runs find the program.
$(CARGO_DENY):
	$(CARGO) install --locked --root $(TOOLS) cargo-deny

bench: bench-store ## Run every measurement (ARGS)

bench-store: ## Measure the store's layout against others: docs/store-figures.md (ARGS)
	$(CARGO) run --release -p gonets-benches --bin store-layout -- $(ARGS)
