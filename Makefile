# `make run` starts the product; `make test` proves it; the rest is for people who change it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
CARGO ?= cargo

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: ## Install what is missing, build the UI and the release binaries (in target/release)
	scripts/install-packages build
	$(MAKE) --no-print-directory web
	$(CARGO) build --release --locked --package server --package vedette-odbc

.PHONY: run
run: build ## Build, then start the server with its data in ./var (stop with Ctrl-C)
	target/release/vedette server --data var

.PHONY: bench
bench: build ## Build also the program behind `vedette bench`
	$(CARGO) build --release --locked --package server --package vedette-odbc --package vedette-bench

.PHONY: deb
deb: ## Build a Debian package (in target/debian) with the profile for packages
	scripts/install-packages deb
	$(MAKE) --no-print-directory web
	$(CARGO) build --profile dist --locked --package server --package vedette-odbc --package vedette-bench
	scripts/make-deb target/dist target/debian

.PHONY: image
image: deb ## Build a container image of the package, with docker or podman (ENGINE)
	$(or $(ENGINE),docker) build --file packaging/Containerfile --tag vedette target/debian

.PHONY: web
web: ## Build the UI into web/dist
	cd web && (test node_modules -nt package-lock.json || npm ci --no-audit --no-fund) && npm run --silent build

.PHONY: check
check: ## Format, lints, layer rule, unit tests, UI types: before each commit
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) test --workspace --lib --bins --test tidy --locked --quiet
	cd web && (test node_modules -nt package-lock.json || npm ci --no-audit --no-fund) && npm run --silent check

.PHONY: test
test: ## Install what is missing and run every test that needs only this clone
	scripts/test clone

.PHONY: test-deep
test-deep: ## Run the long variants of tests: a storm of problems for a minute, hundreds of kills while messages are sent, thousands of simulated lives
	scripts/test deep

.PHONY: test-stores
test-stores: ## Install or fetch history stores and test against them
	scripts/test stores

.PHONY: test-compat
test-compat: ## Run the tests that need the compatibility data (VEDETTE_SHARED, default ../shared)
	scripts/test compat

.PHONY: audit
audit: ## Check licences, sources and known advisories of all dependencies (fetches the advisories)
	scripts/deny advisories

.PHONY: fmt
fmt: ## Format all code
	$(CARGO) fmt --all
	cd web && npm run --silent format

.PHONY: clean
clean: ## Delete what was built, not the data in ./var
	$(CARGO) clean
	rm -rf web/dist web/node_modules .cache
