//! What was learnt from the problems that a trigger had.

/// Of the last problems of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learnt {
    /// Row of `triggers`.
    pub trigger: u64,
    /// Problems that ended by themselves, of the last 50.
    pub problems: usize,
    /// Their median duration, seconds; `None` = there is none.
    pub typical: Option<i64>,
    /// Seconds within which most of them ended; `None` = there are too few.
    pub within: Option<i64>,
    /// How many of them ended within it, percent.
    pub share: i64,
    /// It opens and ends problems all the time.
    pub flapping: Option<Flapping>,
}

/// A trigger that opens and ends problems all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flapping {
    /// How often a problem opened or ended in the last 30 minutes.
    pub changes: usize,
    /// The second from which on it is not flapping any more if nothing changes.
    pub until: i64,
    /// The problem with which it began; `None` = too many have followed.
    pub since: Option<u64>,
}
