//! Which requests a mirror copies.

use crate::config::{self, Percent};
use crate::pool::group::Target;

/// Where a service or a rule sends copies, and which ones.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub(crate) target: Target,
    percent: Percent,
    pub(crate) max_body: usize,
    pub(crate) concurrent: u32,
}

impl Mirror {
    /// Of settings that have been checked.
    pub(crate) fn compile(
        config: &config::Mirror,
        target: &dyn Fn(&String) -> Result<Target, String>,
    ) -> Result<Self, String> {
        let target = target(&config.pool).map_err(|problem| format!("'mirror': {problem}"))?;
        Ok(Self {
            target: target.for_copies(),
            percent: config.percent,
            max_body: usize::try_from(config.max_body).unwrap_or(usize::MAX),
            concurrent: config.concurrent,
        })
    }

    /// Whether a request with this random number is copied. The percentage is a probability: a count would fall into
    /// step with clients that alternate between requests.
    pub(crate) fn chooses(&self, random: u64) -> bool {
        let whole = u64::from(Percent::WHOLE.parts());
        // The high bits of the generator are the good ones.
        (random >> 32) % whole < u64::from(self.percent.parts())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_percentage_is_a_probability() {
        let pool = "{name: p, servers: [{name: s, address: '127.0.0.1:1'}]}";
        let pool: config::Pool = serde_saphyr::from_str(pool).expect("a pool");
        let target = |_: &String| {
            let pool = crate::pool::Pool::new(&pool, Vec::new(), Arc::default());
            Ok(Target::Pool(Arc::new(pool)))
        };
        // Expected of 100,000, and five times the standard deviation.
        for (percent, expected, off) in [
            ("0", 0, 0),
            ("0.1", 100, 50),
            ("12.5", 12_500, 525),
            ("50", 50_000, 790),
            ("100", 100_000, 0),
        ] {
            let text = format!("{{pool: p, percent: {percent}}}");
            let settings: config::Mirror = serde_saphyr::from_str(&text).expect("a mirror");
            let mirror = Mirror::compile(&settings, &target).expect("a mirror");
            let mut random = 0x1234_5678_9abc_def1_u64;
            let chosen = (0..100_000).filter(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                mirror.chooses(random)
            });
            let chosen = chosen.count();
            assert!(chosen.abs_diff(expected) <= off, "{percent} %: {chosen}");
        }
    }
}
