# What every suite starts with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export CARGO_TERM_COLOR=never
# The program that system tests start.
build_vedette() {
    cargo build --locked --quiet --package server
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
