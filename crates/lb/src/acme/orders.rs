//! The thread that orders and renews certificates, one after the other.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::slot::Slot;
use super::store::{Responder, Store};
use super::table::Table;

/// Pause after a fault of the program.
const FAULT: Duration = Duration::from_secs(60);

/// What the thread works on; `None`: there are no automatic certificates.
type Jobs = watch::Sender<Option<Arc<Job>>>;

/// Certificates to order and renew.
#[derive(Debug)]
pub struct Job {
    /// Where certificates go.
    pub slots: Vec<Arc<Slot>>,
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// Who answers the checks.
    pub responder: Arc<dyn Responder>,
    /// What failed before is tried again soon.
    pub again: bool,
}

/// Orders and renews while it exists.
pub struct Orders {
    clock: SharedClock,
    jobs: Option<Jobs>,
}

impl std::fmt::Debug for Orders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Orders").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

impl Orders {
    /// Without anything to order.
    #[must_use]
    pub fn new(clock: &SharedClock) -> Self {
        Self { clock: Arc::clone(clock), jobs: None }
    }

    /// Orders and renews these certificates, and nothing else any more. An order that has begun is
    /// completed.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn replace(&mut self, job: Option<Job>) -> std::io::Result<()> {
        match (&self.jobs, job) {
            (Some(jobs), job) => drop(jobs.send_replace(job.map(Arc::new))),
            (None, None) => {}
            (None, Some(job)) => {
                // What a start finds waits as long as it did before.
                let job = Job { again: false, ..job };
                let (jobs, receiver) = watch::channel(Some(Arc::new(job)));
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let clock = Arc::clone(&self.clock);
                stdx::thread::permanent("acme", move || guard(&runtime, &receiver, &clock))?;
                self.jobs = Some(jobs);
            }
        }
        Ok(())
    }
}

/// Works until the orders are dropped. A fault in the work for certificates does not end the process, which
/// forwards without them.
fn guard(runtime: &Runtime, jobs: &watch::Receiver<Option<Arc<Job>>>, clock: &SharedClock) {
    while let Err(fault) = stdx::thread::contain(|| runtime.block_on(run(jobs.clone(), clock))) {
        tracing::error!("BUG: certificates are not renewed for a minute: {}", fault.text);
        std::thread::sleep(FAULT);
    }
}

/// Works until the orders are dropped.
async fn run(mut jobs: watch::Receiver<Option<Arc<Job>>>, clock: &SharedClock) {
    let mut before = None;
    loop {
        let job = jobs.borrow_and_update().clone();
        let mut table = job.map(|job| Table::new(&job, clock, before.take()));
        loop {
            let wait = async {
                match &table {
                    Some(table) => table.wait().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                changed = jobs.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                () = wait => {}
            }
            // An order that has begun is completed, unless the engine stops.
            if let Some(table) = &mut table {
                tokio::select! {
                    () = ended(&jobs) => return,
                    () = table.work() => {}
                }
            }
        }
        before = table;
    }
}

/// Returns when the orders are dropped.
async fn ended(jobs: &watch::Receiver<Option<Arc<Job>>>) {
    let mut jobs = jobs.clone();
    while jobs.changed().await.is_ok() {}
}
