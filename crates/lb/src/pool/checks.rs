//! What health monitors found out about a server, for reports.

use std::sync::Mutex;

use proxying::engine_link::monitors::{Monitored, Verdict};
use stdx::sync::lock;

/// The monitors of a server in the order of the configuration. Only the thread of the monitors and reports
/// use it.
#[derive(Debug, Default)]
pub(crate) struct Checks(Mutex<Vec<Monitored>>);

impl super::Server {
    /// Whether requests of any client may go to it, as far as its monitors know.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_open() && self.shared.healthy.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Checks {
    pub(crate) fn all(&self) -> Vec<Monitored> {
        lock(&self.0).clone()
    }

    /// The monitors of a new configuration. Those that have a name of before keep their last result.
    pub(crate) fn arrange<'n>(&self, names: impl Iterator<Item = &'n str>) {
        let mut all = lock(&self.0);
        let before = std::mem::take(&mut *all);
        all.extend(names.map(|name| {
            let same = before.iter().find(|old| &*old.name == name).cloned();
            same.unwrap_or_else(|| Monitored { name: name.into(), ..Monitored::default() })
        }));
    }

    /// Notes the result of a check of the monitor at this place; true: the verdict has changed. A monitor
    /// that still fails after a passed check keeps its reason.
    pub(crate) fn note(&self, at: usize, verdict: Verdict, reason: &str, now_s: u64) -> bool {
        let mut all = lock(&self.0);
        let Some(monitor) = all.get_mut(at) else { return false };
        let changed = monitor.verdict != verdict;
        if changed {
            monitor.changed_at = now_s;
        }
        monitor.verdict = verdict;
        monitor.checked_at = now_s;
        let fails_still = verdict == Verdict::Fails && reason.is_empty();
        if *monitor.reason != *reason && !fails_still {
            monitor.reason = reason.into();
        }
        changed
    }

    /// Why the server fails: each failing monitor with its reason.
    pub(crate) fn failures(&self) -> String {
        let all = lock(&self.0);
        let failing = all.iter().filter(|monitor| monitor.verdict == Verdict::Fails);
        let texts: Vec<String> =
            failing.map(|monitor| format!("{}: {}", monitor.name, monitor.reason)).collect();
        texts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_with_the_name_of_their_monitor() {
        let checks = Checks::default();
        checks.arrange(["a", "b"].into_iter());
        assert!(checks.note(1, Verdict::Fails, "status 503 instead of 200", 5));
        assert!(!checks.note(1, Verdict::Fails, "status 500 instead of 200", 6));
        assert_eq!(checks.failures(), "b: status 500 instead of 200");
        checks.note(1, Verdict::Fails, "", 6);
        checks.arrange(["b", "c"].into_iter());
        let [b, c] = &checks.all()[..] else { panic!("two monitors") };
        assert_eq!(&*b.reason, "status 500 instead of 200", "a passed check is not enough");
        assert_eq!((b.verdict, b.changed_at, b.checked_at), (Verdict::Fails, 5, 6));
        assert_eq!(c, &Monitored { name: "c".into(), ..Monitored::default() });
        assert!(checks.note(0, Verdict::Passes, "", 7));
        assert_eq!((checks.failures(), checks.all()[0].changed_at), (String::new(), 7));
        assert!(!checks.note(9, Verdict::Fails, "", 8), "no such monitor");
    }
}
