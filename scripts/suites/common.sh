# What every suite starts with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Logs are read by `cargo xtask totals`: plain text, whatever the terminal or a CI variable asks for.
export CARGO_TERM_COLOR=never NO_COLOR=1
unset FORCE_COLOR CLICOLOR_FORCE
# The same generated cases in each run: a new one is looked for by hand, not while landing.
export PROPTEST_RNG_SEED=7
# The programs that system tests start.
build_vedette() {
    cargo build --locked --quiet --package server --package vedette-odbc --package vedette-bench
}
# Each file as a run of its own, as many at a time as AT_ONCE says; what one says is written when it
# ends. The suite fails when one fails.
run_tests() {
    printf '%s\0' "$@" | xargs -0 -n 1 -P "${AT_ONCE:-1}" scripts/suites/run-file
}
# The suite that all drivers of history pass, on these stores of tests/stores/with_store.py. Built as
# the unit tests are, so that only the drivers' crate is built once more.
run_drivers() {
    local store failed=0
    for store in "$@"; do
        echo "-- the suite of drivers on $store"
        python3 tests/stores/with_store.py "$store" cargo test --locked --workspace --exclude xtask \
            --features stores/servers --test drivers || failed=1
    done
    return $failed
}
