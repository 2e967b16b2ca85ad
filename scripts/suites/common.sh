# What every script here starts with. scripts/test sets the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# One set of features for all calls of cargo, so that nothing is compiled twice: `--package` would choose fewer.
workspace=(--workspace --locked)
