//! The connection to one of the addresses of a mail server.

use std::net::IpAddr;
use std::time::Duration;

use stdx::clock::SharedClock;

use crate::attempt::os_error;

/// Connects to the first address that works, or says why the last one failed. Each address has an equal
/// share of the remaining time, so that one without a response leaves time for the others.
pub(super) async fn first_of<T, F>(
    clock: &SharedClock,
    addresses: &[IpAddr],
    time: Duration,
    connect: impl Fn(IpAddr) -> F,
) -> Result<T, String>
where
    F: Future<Output = std::io::Result<T>>,
{
    let end = clock.monotonic() + time;
    let mut why = String::from("no address");
    let mut remaining = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    for address in addresses {
        let share = end.saturating_sub(clock.monotonic()) / remaining;
        remaining -= 1;
        why = match tokio::time::timeout(share, connect(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                String::from("connection error (POLLERR,POLLHUP)")
            }
            Ok(Err(error)) => os_error(&error),
            Err(_) => String::from("connection timed out"),
        };
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_without_response_leaves_time_for_others() {
        let [hangs, refuses, works] = [1, 2, 3].map(|n| IpAddr::from([127, 0, 0, n]));
        let connect = |address| async move {
            match address {
                _ if address == hangs => std::future::pending().await,
                _ if address == refuses => Err(std::io::ErrorKind::ConnectionRefused.into()),
                _ => Ok(address),
            }
        };
        let (clock, time) = (crate::testing::tools().clock, Duration::from_millis(40));
        assert_eq!(first_of(&clock, &[hangs, refuses, works], time, connect).await, Ok(works));
        let why = "connection error (POLLERR,POLLHUP)";
        assert_eq!(first_of(&clock, &[hangs, refuses], time, connect).await, Err(why.to_owned()));
        assert_eq!(
            first_of(&clock, &[refuses, hangs], time, connect).await,
            Err("connection timed out".into())
        );
        assert_eq!(first_of(&clock, &[], time, connect).await, Err("no address".into()));
    }
}
