//! Refused sign-ins in the audit log.

/// Refused sign-ins that are written in a minute: strangers must not fill the disk.
pub(crate) const REFUSED_MAX: u32 = 20;

/// Counts refused sign-ins.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    minute: u64,
    count: u32,
}

impl Refused {
    /// Counts one; whether it is to be written.
    pub(crate) fn admit(&mut self, now: u64) -> bool {
        let minute = now / 60;
        if minute != self.minute {
            let left_out = self.count.saturating_sub(REFUSED_MAX);
            if left_out > 0 {
                tracing::warn!("{left_out} refused sign-ins are not in the audit log");
            }
            *self = Self { minute, count: 0 };
        }
        self.count += 1;
        self.count <= REFUSED_MAX
    }
}
