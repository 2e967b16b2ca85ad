//! Who writes what network discovery found and which agents announced themselves. What the actions delete
//! takes history and problems with it.

use std::sync::Arc;

use ::alert::Sightings;
use config::objects::Deleted;
use model::Sighting;
use stdx::queue::{Sender, bounded};

use super::base::Base;
use super::evaluation::Evaluation;
use super::{Kept, Part, blocking, discovery};

/// Addresses that were looked at and agents that announced themselves, waiting to be written.
const SIGHTINGS_MAX: usize = 1_000;

/// Starts the writer; the handle takes what was found.
pub(crate) fn start(
    base: &Base<'_>,
    evaluation: &Evaluation,
) -> anyhow::Result<Part<Sender<Sighting>>> {
    let (sightings, queue) = bounded::<Sighting>("sightings", SIGHTINGS_MAX);
    let (shards, problems) = (Arc::clone(&evaluation.shards), evaluation.problems.clone());
    let gone = move |deleted: &Deleted| discovery::forget(&shards, &problems, deleted);
    let (writing, stop) =
        (Sightings::new(Arc::clone(&base.config), Box::new(gone)), base.stop_writers.clone());
    let thread = stdx::thread::permanent("sightings", move || writing.run(queue, &stop))?;
    let last = sightings.clone();
    let end = async move {
        // Callers that query the state of collection hold the queue open.
        let _ = last.send(Sighting::End).await;
        blocking(move || {
            drop(thread.join());
            Kept::All
        })
        .await
    };
    Ok(Part::new(sightings, end))
}
