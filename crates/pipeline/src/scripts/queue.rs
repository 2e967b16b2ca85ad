//! Work for script workers, shared out fairly: no host, and no scripts that are known to be slow,
//! hold more than half of the workers. Hosts take turns.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use model::{HostId, ItemId};

/// A script that took this long is slow until it is quick again.
const SLOW: Duration = Duration::from_secs(1);

/// Slow items that are known; beyond, all are forgotten.
const SLOW_MAX: usize = 100_000;

/// Whose work it is.
pub(super) type Owner = (HostId, ItemId);

/// Jobs that wait, and what the workers do.
#[derive(Debug)]
pub(super) struct Queue<W> {
    /// Of each host that has some.
    waiting: HashMap<Option<HostId>, VecDeque<(Option<Owner>, W)>>,
    /// Hosts with waiting jobs, the next one first.
    turns: VecDeque<Option<HostId>>,
    len: usize,
    running: HashMap<HostId, usize>,
    slow_running: usize,
    slow: HashSet<ItemId>,
    /// Workers that one host, or slow scripts, may hold.
    share: usize,
}

/// A job that a worker has taken.
#[derive(Debug)]
pub(super) struct Taken<W> {
    pub(super) work: W,
    owner: Option<Owner>,
    was_slow: bool,
}

/// What is to be told of a job that is done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    owner: Option<Owner>,
    was_slow: bool,
}

impl<W> Taken<W> {
    pub(super) fn split(self) -> (W, Ran) {
        (self.work, Ran { owner: self.owner, was_slow: self.was_slow })
    }
}

impl<W> Queue<W> {
    /// For so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
            running: HashMap::new(),
            slow_running: 0,
            slow: HashSet::new(),
            share: (workers / 2).max(1),
        }
    }

    /// Jobs that wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// `owner`: `None` = nobody's, which no share limits.
    pub(super) fn put(&mut self, owner: Option<Owner>, work: W) {
        let host = owner.map(|(host, _)| host);
        let jobs = self.waiting.entry(host).or_default();
        if jobs.is_empty() {
            self.turns.push_back(host);
        }
        jobs.push_back((owner, work));
        self.len += 1;
    }

    /// The next job that may run.
    pub(super) fn take(&mut self) -> Option<Taken<W>> {
        let (turn, at) = self.next()?;
        let host = self.turns.remove(turn)?;
        let jobs = self.waiting.get_mut(&host)?;
        let (owner, work) = jobs.remove(at)?;
        if jobs.is_empty() {
            self.waiting.remove(&host);
        } else {
            self.turns.push_back(host);
        }
        self.len -= 1;
        let was_slow = self.is_slow(owner);
        self.slow_running += usize::from(was_slow);
        if let Some((host, _)) = owner {
            *self.running.entry(host).or_default() += 1;
        }
        Some(Taken { work, owner, was_slow })
    }

    /// The turn of its host and its place there.
    fn next(&self) -> Option<(usize, usize)> {
        let slow_may = self.slow_running < self.share;
        self.turns.iter().enumerate().find_map(|(turn, host)| {
            let running = host.and_then(|host| self.running.get(&host));
            if running.is_some_and(|running| *running >= self.share) {
                return None;
            }
            let mut jobs = self.waiting.get(host)?.iter();
            let at = jobs.position(|(owner, _)| slow_may || !self.is_slow(*owner))?;
            Some((turn, at))
        })
    }

    fn is_slow(&self, owner: Option<Owner>) -> bool {
        owner.is_some_and(|(_, item)| self.slow.contains(&item))
    }

    /// A job has run for this time.
    pub(super) fn done(&mut self, ran: Ran, took: Duration) {
        self.slow_running -= usize::from(ran.was_slow);
        let Some((host, item)) = ran.owner else { return };
        if let Some(running) = self.running.get_mut(&host) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&host);
            }
        }
        if took < SLOW {
            self.slow.remove(&item);
            return;
        }
        if self.slow.len() >= SLOW_MAX {
            self.slow.clear();
        }
        self.slow.insert(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(host: u64, item: u64) -> Option<Owner> {
        Some((HostId(host), ItemId(item)))
    }

    fn take(queue: &mut Queue<u64>) -> Option<(u64, Ran)> {
        queue.take().map(Taken::split)
    }

    #[test]
    fn hosts_take_turns_with_at_most_half_of_the_workers() {
        let mut queue = Queue::new(4);
        (0..10).for_each(|n| queue.put(owner(1, n), n));
        (20..22).for_each(|n| queue.put(owner(2, n), n));
        queue.put(None, 30);
        let taken: Vec<(u64, Ran)> = std::iter::from_fn(|| take(&mut queue)).collect();
        let works: Vec<u64> = taken.iter().map(|(work, _)| *work).collect();
        assert_eq!(works, [0, 20, 30, 1, 21], "host 1 waits for its share");
        assert_eq!(queue.len(), 8);
        queue.done(taken[0].1, Duration::ZERO);
        assert_eq!(take(&mut queue).map(|(work, _)| work), Some(2));
        assert!(queue.take().is_none());
    }

    #[test]
    fn slow_items_of_all_hosts_together_hold_half_of_the_workers() {
        let mut queue = Queue::new(4);
        for n in 0..5 {
            queue.put(owner(n, n), n);
        }
        let taken: Vec<(u64, Ran)> = std::iter::from_fn(|| take(&mut queue)).collect();
        assert_eq!(taken.len(), 5, "nobody knows yet");
        taken.iter().for_each(|(_, ran)| queue.done(*ran, SLOW));
        for n in 0..5 {
            queue.put(owner(n, n), n);
        }
        queue.put(owner(4, 9), 9);
        let taken: Vec<(u64, Ran)> = std::iter::from_fn(|| take(&mut queue)).collect();
        let works: Vec<u64> = taken.iter().map(|(work, _)| *work).collect();
        assert_eq!(works, [0, 1, 9], "a quick item passes slow ones of its host");
        // One that is quick again counts as quick.
        queue.done(taken[0].1, Duration::ZERO);
        queue.put(owner(0, 0), 0);
        let works: Vec<u64> =
            std::iter::from_fn(|| take(&mut queue)).map(|(work, _)| work).collect();
        assert_eq!(works, [2, 0]);
    }
}
