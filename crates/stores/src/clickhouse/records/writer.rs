//! The thread that inserts blocks.

use std::collections::BTreeMap;
use std::time::Duration;

use history::Error;
use stdx::seldom::Seldom;
use transactions::{Decoded, Position, Stream};

use super::queue::Waiting;
use super::{Shared, table};

/// Compressed bytes of one batch: several times as many as rows.
const BATCH_BYTES: usize = 8 << 20;
/// Bytes of rows that one insert sends.
const BODY_BYTES: usize = 16 << 20;
/// Time between two batches: each insert makes a part, and ClickHouse wants few.
const EVERY: Duration = Duration::from_secs(1);
/// Pauses after failures: they double from the first to the last.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// How often the same trouble is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Works until the queue is closed.
pub(super) fn run(shared: &Shared) {
    let log = Seldom::new(LOG_EVERY);
    let (mut pause, mut failing) = (PAUSE, false);
    let mut last = None;
    loop {
        let now = shared.clock.monotonic();
        let patience = last.map_or(Duration::ZERO, |last: Duration| {
            EVERY.saturating_sub(now.saturating_sub(last))
        });
        let done = match shared.queue.lacks_positions() {
            true => positions(shared),
            false => {
                let Some(batch) = shared.queue.next(BATCH_BYTES, patience) else { return };
                last = Some(shared.clock.monotonic());
                insert(shared, &batch).map(|()| shared.queue.inserted(&batch))
            }
        };
        match done {
            Ok(()) => {
                if std::mem::take(&mut failing) {
                    tracing::info!("the store of transactions accepts records again");
                }
                pause = PAUSE;
            }
            Err(error) => {
                failing = true;
                if let Some(more) = log.pass(shared.clock.monotonic()) {
                    tracing::error!(%error, more, "cannot store records of transactions; engines keep them");
                }
                if !shared.queue.failed(error.message, pause) {
                    return;
                }
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }
}

fn positions(shared: &Shared) -> Result<(), Error> {
    shared.prepare()?;
    shared.queue.found(table::positions(&shared.client)?);
    Ok(())
}

/// Inserts blocks, then the positions behind them. After an error some of it may be there: it is inserted again.
fn insert(shared: &Shared, batch: &[Waiting]) -> Result<(), Error> {
    shared.prepare()?;
    let written = insert_rows(shared, batch).and_then(|()| {
        let ends: BTreeMap<Stream, (Position, u64)> =
            batch.iter().map(|one| (one.stream, (one.end(), one.arrived_us))).collect();
        table::insert_positions(&shared.client, &ends)
    });
    if written.is_err() {
        // The tables may be missing: the database was replaced.
        shared.prepared.forget();
    }
    written
}

fn insert_rows(shared: &Shared, batch: &[Waiting]) -> Result<(), Error> {
    let mut body = Vec::new();
    for waiting in batch {
        let decoded = match Decoded::read(&waiting.block) {
            Ok(decoded) => decoded,
            Err(damage) => {
                let Stream { engine, .. } = waiting.stream;
                tracing::error!(engine, %damage, "a block of records cannot be read; its records are lost");
                continue;
            }
        };
        for row in 0..decoded.rows() {
            table::put_row(&mut body, &decoded, row, waiting);
            if body.len() >= BODY_BYTES {
                table::insert(&shared.client, &body)?;
                body.clear();
            }
        }
    }
    if body.is_empty() { Ok(()) } else { table::insert(&shared.client, &body) }
}
