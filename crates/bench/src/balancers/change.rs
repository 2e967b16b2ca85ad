//! Changes of the configuration while clients have requests in flight: how long one takes to be live, and
//! what is left of them in memory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use stdx::clock::Clock;

use super::load::{Clients, Load, Memory, Outcome};
use super::row::Changes;
use crate::proc::Meter;

/// Response header with the number of the newest change.
pub(crate) const HEADER: &str = "x-change";
/// Until a change must be live.
const LIVE_MAX: Duration = Duration::from_secs(60);
/// Between two requests that look for a change.
const LOOK: Duration = Duration::from_micros(200);

/// Writes the configuration with a number and lets the balancer read it.
pub(crate) type Change<'a> = dyn Fn(u64) -> anyhow::Result<()> + Sync + 'a;

/// Makes all changes of a row, one after the other. An error of any client ends the measurement.
pub(crate) fn drive(
    load: &Load<'_>,
    changes: Changes,
    change: &Change<'_>,
    meter: &Meter,
    clock: &dyn Clock,
) -> anyhow::Result<Outcome> {
    let mut clients = Clients::new(load, clock.monotonic())?;
    clients.open(load.row.clients)?;
    while clients.requests() < u64::try_from(load.row.clients)? {
        clients.turn(clock)?;
    }
    let (before, begin) = (Memory::of(meter)?, clients.mark(meter, clock.monotonic())?);
    let to = *load.to.first().context("BUG: no service")?;
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let make = || {
            let mut observer = Observer::connect(to)?;
            for number in 1..=changes.count {
                change(number)?;
                observer.wait(number, &failed, clock)?;
            }
            Ok(())
        };
        let made = scope.spawn(make);
        while !made.is_finished() {
            if let Err(error) = clients.turn(clock) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        made.join().map_err(|_| anyhow::anyhow!("BUG: the changes have panicked"))?
    })?;
    let end = clients.mark(meter, clock.monotonic())?;
    let outcome = end.since(&begin);
    let memory = Memory { before, after: Memory::of(meter)? };
    Ok(Outcome { changes: changes.count, memory: Some(memory), ..outcome })
}

/// A connection that looks for changes.
struct Observer {
    stream: TcpStream,
}

impl Observer {
    fn connect(to: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(to).context("cannot connect to the balancer")?;
        stream.set_read_timeout(Some(LIVE_MAX))?;
        Ok(Self { stream })
    }

    /// Waits until a change is live, or clients have failed.
    fn wait(&mut self, number: u64, failed: &AtomicBool, clock: &dyn Clock) -> anyhow::Result<()> {
        let begin = clock.monotonic();
        while self.newest()? != number {
            if failed.load(Ordering::Relaxed) {
                bail!("the clients have failed");
            }
            if clock.monotonic().saturating_sub(begin) > LIVE_MAX {
                bail!("change {number} is not live after {} s", LIVE_MAX.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Number of the change that the balancer has applied last; 0: none.
    fn newest(&mut self) -> anyhow::Result<u64> {
        self.stream.write_all(b"GET / HTTP/1.1\r\nHost: bench.test\r\n\r\n")?;
        let mut answer = super::answer::Answer::default();
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let n = self.stream.read(&mut buffer)?;
            if n == 0 {
                bail!("the balancer closed the connection of a request that looks for a change");
            }
            text.extend_from_slice(&buffer[..n]);
            if answer.take(&buffer[..n])? {
                return Ok(number_in(&String::from_utf8_lossy(&text)));
            }
        }
    }
}

fn number_in(response: &str) -> u64 {
    response
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case(HEADER))
        .and_then(|(_, number)| number.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_change_is_in_a_header() {
        assert_eq!(number_in("HTTP/1.1 200 OK\r\nX-Change: 17\r\n\r\nabc"), 17);
        assert_eq!(number_in("HTTP/1.1 200 OK\r\nX-Other: 17\r\n\r\nx-change"), 0);
    }
}
