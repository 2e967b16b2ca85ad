//! Records what network discovery found and which agents announced themselves.

use std::sync::Arc;

use actions::DiscoveryWriter;
use model::DiscoveryResult;
use stdx::queue::{Sender, bounded};

use super::base::Base;
use super::{Kept, Part, blocking};

/// Addresses that were looked at and agents that announced themselves, waiting to be written.
const RESULTS_MAX: usize = 1_000;

/// Starts the writer; the handle takes what was found.
pub(crate) fn start(base: &Base<'_>) -> anyhow::Result<Part<Sender<DiscoveryResult>>> {
    let (results, queue) = bounded::<DiscoveryResult>("discovery", RESULTS_MAX);
    let writing = DiscoveryWriter::new(Arc::clone(&base.config), base.bells.escalator.clone());
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("discovery", move || writing.run(queue, &stop))?;
    let last = results.clone();
    let end = async move {
        // Callers that query the state of collection hold the queue open.
        let _ = last.send(DiscoveryResult::End).await;
        blocking(move || {
            drop(thread.join());
            Kept::All
        })
        .await
    };
    Ok(Part::new(results, end))
}
