//! A thread that writes to a store, until it is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::batch::Rows;
use super::gauges::{Gauges, add};
use super::refused::Refused;
use super::row::Row;
use super::{Policy, spawn};
use crate::{Driver, Error, Fault};

/// More rows of one batch than these are not refused for themselves.
const REFUSED_MAX: usize = 100;
/// While waiting, how often one looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A store that fails is complained about once for so many tries.
const COMPLAIN_EVERY: u32 = 12;

/// What lanes of a store share.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) policy: Policy,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) refused: Arc<Refused>,
}

/// The feeder's end of a lane. It ends when dropped.
pub(crate) struct Lane {
    work: Option<SyncSender<(u64, Rows)>>,
    thread: Option<JoinHandle<()>>,
}

impl Lane {
    /// `done` hears the number of each batch that is written.
    pub(crate) fn start(
        mut driver: Box<dyn Driver>,
        common: Common,
        done: SyncSender<u64>,
    ) -> Result<Self, Error> {
        let (work, todo): (_, Receiver<(u64, Rows)>) = sync_channel(1);
        let thread = spawn("history-lane", move || {
            let mut part = Part::default();
            while let Ok((number, rows)) = todo.recv() {
                part.refused = 0;
                let driver = driver.as_mut();
                if !part.put_all(driver, &rows.samples, &common)
                    || !part.put_all(driver, &rows.trends, &common)
                {
                    return;
                }
                add(&common.gauges.written, rows.len());
                add(&common.gauges.batches, 1);
                if done.send(number).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { work: Some(work), thread: Some(thread) })
    }

    /// Waits while the lane has one more to do; false = it has ended.
    pub(crate) fn send(&self, number: u64, rows: Rows) -> bool {
        self.work.as_ref().is_some_and(|work| work.send((number, rows)).is_ok())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Common {
    /// Does it again until it succeeds; false = to stop.
    pub(crate) fn until_done(
        &self,
        driver: &mut dyn Driver,
        mut what: impl FnMut(&mut dyn Driver) -> Result<(), Error>,
    ) -> bool {
        let mut pause = self.policy.pause_min;
        for tried in 0_u32.. {
            if self.stop.load(Ordering::Acquire) {
                return false;
            }
            let Err(error) = what(driver) else {
                if tried > 0 {
                    self.gauges.tell("");
                }
                return true;
            };
            add(&self.gauges.errors, 1);
            add(&self.gauges.retries, 1);
            self.gauges.tell(&error.message);
            if tried.is_multiple_of(COMPLAIN_EVERY) {
                tracing::error!(%error, "cannot write to a history store; values wait on disk");
            }
            self.wait(pause);
            pause = (pause * 2).min(self.policy.pause_max);
        }
        false
    }

    pub(crate) fn wait(&self, pause: Duration) {
        let mut left = pause;
        while !left.is_zero() && !self.stop.load(Ordering::Acquire) {
            let step = left.min(LOOK_EVERY);
            std::thread::sleep(step);
            left -= step;
        }
    }
}

/// How far rows of a batch are written, and in parts of which size. What was too much for the store
/// in one batch is too much for it in the next.
#[derive(Debug, Default)]
struct Part {
    /// Rows that are written.
    written: usize,
    /// Of the batch the store refused so many.
    refused: usize,
    /// Rows of the next part; 0 = all.
    size: usize,
}

impl Part {
    /// Writes rows however often it has to be tried; false = to stop.
    fn put_all<R: Row>(&mut self, driver: &mut dyn Driver, rows: &[R], common: &Common) -> bool {
        self.written = 0;
        while self.written < rows.len() {
            if !common.until_done(driver, |driver| self.put(driver, rows, common)) {
                return false;
            }
        }
        true
    }

    /// Writes the next part but for what the store refuses for itself. A failure makes the next
    /// parts smaller, each success lets them grow a little.
    fn put<R: Row>(
        &mut self,
        driver: &mut dyn Driver,
        rows: &[R],
        common: &Common,
    ) -> Result<(), Error> {
        let left = &rows[self.written..];
        let size = if self.size == 0 { left.len() } else { self.size.min(left.len()) };
        let mut refused = Vec::new();
        let room = REFUSED_MAX - self.refused;
        let put = put_rows(driver, &left[..size], (&mut refused, room));
        if let Err(error) = put.and_then(|()| put_aside(&refused, common)) {
            // One that refuses row after row is not too slow.
            if refused.len() < room {
                self.size = (size / 2).max(common.policy.part_min);
            }
            return Err(error);
        }
        self.written += size;
        self.refused += refused.len();
        let grown = self.size + self.size / 8 + 1;
        let is_whole = self.size == 0 || grown > common.policy.rows_max;
        self.size = if is_whole { 0 } else { grown };
        Ok(())
    }
}

/// Rows that the store refuses for themselves, each with its words.
type Odd<R> = Vec<(R, String)>;

fn put_aside<R: Row>(refused: &Odd<R>, common: &Common) -> Result<(), Error> {
    let Some((row, why)) = refused.first() else { return Ok(()) };
    common.refused.keep(refused)?;
    add(&common.gauges.refused, refused.len());
    let (item, rows) = (row.item(), refused.len());
    tracing::warn!(%item, rows, why, "history store rejected values; setting them aside");
    Ok(())
}

/// Finds what the store refuses by halves; there is room for so many of these.
fn put_rows<R: Row>(
    driver: &mut dyn Driver,
    rows: &[R],
    (refused, room): (&mut Odd<R>, usize),
) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let Err(error) = R::write(driver, rows) else { return Ok(()) };
    if error.retry || error.fault != Fault::Us {
        return Err(error);
    }
    if let [row] = rows {
        if refused.len() >= room {
            let why = error.message;
            let message = format!("the store refuses too many rows to blame them: {why}");
            return Err(Error::storage_away(message));
        }
        refused.push((row.clone(), error.message));
        return Ok(());
    }
    let (left, right) = rows.split_at(rows.len() / 2);
    put_rows(driver, left, (&mut *refused, room))?;
    put_rows(driver, right, (refused, room))
}
