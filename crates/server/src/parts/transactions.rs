//! Records of what the load balancer's engines carried.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use stdx::clock::SharedClock;
use transactions::{Archive, Limits, Store};

use crate::params::{Values, bytes};

/// How often records beyond the limits are deleted.
const DELETE_EVERY: Duration = Duration::from_secs(10);

/// Opens the store that the parameters name, or the archive in the folder of data.
pub(crate) fn open(
    values: &Values,
    data: &Path,
    clock: &SharedClock,
) -> anyhow::Result<Arc<dyn Store>> {
    let limits = limits(values)?;
    let store = values.get("transactions-store");
    if !store.is_empty() {
        return stores::open_records(store, limits, clock).context("parameter transactions-store");
    }
    let path = data.join("transactions");
    let archive = Archive::open(&path, limits).with_context(|| {
        format!("cannot open the records of transactions in {}", path.display())
    })?;
    Ok(Arc::new(archive))
}

fn limits(values: &Values) -> anyhow::Result<Limits> {
    let (size, age) = (values.get("transactions-size"), values.get("transactions-age"));
    let bytes = bytes(size).with_context(|| {
        format!("parameter transactions-size: \"{size}\" is not a size, such as 500M or 20G")
    })?;
    let age_us = age_us(age).with_context(|| {
        format!("parameter transactions-age: \"{age}\" is not a time like 12h or 30d")
    })?;
    Ok(Limits { bytes, age_us })
}

/// A number with m, h or d.
fn age_us(text: &str) -> Option<u64> {
    let factor = match text.chars().last()? {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?.parse::<u64>().ok().filter(|number| *number > 0)?;
    number.checked_mul(factor)?.checked_mul(1_000_000)
}

/// Deletes records beyond the limits.
pub(crate) async fn delete_old(store: Arc<dyn Store>, clock: SharedClock) {
    let mut tick = tokio::time::interval(DELETE_EVERY);
    loop {
        tick.tick().await;
        let (store, now) = (Arc::clone(&store), clock.unix());
        let work = move || {
            let now_us = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
            if let Err(error) = store.delete_old(now_us) {
                tracing::warn!(%error, "cannot delete old records of transactions");
            }
        };
        drop(tokio::task::spawn_blocking(work).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read() {
        assert_eq!(age_us("30d"), Some(30 * 86_400 * 1_000_000));
        assert_eq!(age_us("90m"), Some(5_400 * 1_000_000));
        for wrong in ["", "d", "0d", "5", "-1d", "5 d", "99999999999999d", "ä"] {
            assert_eq!(age_us(wrong), None, "{wrong}");
        }
    }
}
