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
    cargo build --locked --quiet --package server --package vedette-odbc
}
# Each file of a folder as a run of its own; the suite fails when one fails.
run_tests() {
    local failed=0 file
    for file in "$@"; do
        echo "-- $file"
        python3 "$file" || failed=1
    done
    return $failed
}
