//! Memory of this process.

use stdx::machine::{self, Memory};

/// What this process has, and what it can have before the machine or its control group has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnMemory {
    /// Bytes that it has.
    pub(crate) used: u64,
    /// Bytes that it can have.
    pub(crate) most: u64,
    /// The limit is that of the control group.
    pub(crate) is_limited: bool,
}

impl OwnMemory {
    /// `None` where the kernel does not report it.
    pub(crate) fn read() -> Option<Self> {
        let (used, machine) = (machine::own_memory()?, Memory::read()?);
        let most = used.saturating_add(machine.available);
        Some(match machine::memory_limit() {
            Some(limit) if limit < most => Self { used, most: limit, is_limited: true },
            _ => Self { used, most, is_limited: false },
        })
    }

    /// Bytes that it can have besides those that it has.
    pub(crate) const fn free(self) -> u64 {
        self.most.saturating_sub(self.used)
    }
}
