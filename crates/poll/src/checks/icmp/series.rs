//! One series of packets to one address: what is on its way, what came back and how fast.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

/// Echo requests to one address. Equal ones that are asked for at the same time go out once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Series {
    /// The receiver; the port means nothing.
    pub to: SocketAddr,
    /// How many packets.
    pub packets: u32,
    /// From one packet to the next.
    pub interval: Duration,
    /// Bytes of data in each.
    pub size: usize,
    /// How long the answer to a packet may take.
    pub timeout: Duration,
    /// Answers from other addresses count.
    pub redirect: bool,
}

/// What became of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets sent.
    pub sent: u32,
    /// Packets answered in time, each once.
    pub received: u32,
    /// The fastest answer; zero without any.
    pub min: Duration,
    /// The slowest answer.
    pub max: Duration,
    /// All answers together.
    pub sum: Duration,
}

impl Outcome {
    /// Unanswered packets in percent.
    pub fn loss(&self) -> f64 {
        100.0 * (1.0 - f64::from(self.received) / f64::from(self.sent.max(1)))
    }

    /// The mean time of an answer; zero without any.
    pub fn mean(&self) -> Duration {
        self.sum / self.received.max(1)
    }
}

#[derive(Debug, Clone, Copy)]
struct Packet {
    at: Duration,
    answered: bool,
}

/// Where a series stands. All times are monotonic.
#[derive(Debug, Default)]
pub(super) struct Progress {
    outcome: Outcome,
    /// The packets from number `first` on: those that an answer may still reach.
    away: VecDeque<Packet>,
    first: u32,
    last_sent: Duration,
}

impl Progress {
    /// Packets that have gone out, which is the next one's number too.
    pub(super) fn sent(&self) -> u32 {
        self.outcome.sent
    }

    /// A packet has gone out; also one that the network refused, which is lost.
    pub(super) fn sent_at(&mut self, at: Duration, series: &Series) {
        while let Some(packet) = self.away.front()
            && (packet.answered || packet.at + series.timeout < at)
        {
            self.away.pop_front();
            self.first += 1;
        }
        self.outcome.sent += 1;
        self.last_sent = at;
        self.away.push_back(Packet { at, answered: false });
    }

    /// The answer to packet `number` has come; `true` = it counts.
    pub(super) fn answered(&mut self, number: u32, at: Duration, series: &Series) -> bool {
        let packet = number
            .checked_sub(self.first)
            .and_then(|at| self.away.get_mut(usize::try_from(at).ok()?))
            .filter(|packet| !packet.answered);
        let Some(packet) = packet else { return false };
        let took = at.saturating_sub(packet.at);
        if took > series.timeout {
            return false;
        }
        packet.answered = true;
        let out = &mut self.outcome;
        out.min = if out.received == 0 { took } else { out.min.min(took) };
        out.max = out.max.max(took);
        out.sum += took;
        out.received += 1;
        true
    }

    /// When the series has something to do next: send, or give up on its last packet.
    pub(super) fn next(&self, series: &Series) -> Duration {
        let wait = if self.sent() < series.packets { series.interval } else { series.timeout };
        self.last_sent + wait
    }

    /// All packets have gone out, and each is answered or too late.
    pub(super) fn is_over(&self, now: Duration, series: &Series) -> bool {
        self.sent() >= series.packets
            && self.away.iter().all(|one| one.answered || one.at + series.timeout <= now)
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn series(packets: u32) -> Series {
        Series {
            to: ([127, 0, 0, 1], 0).into(),
            packets,
            interval: ms(100),
            size: 56,
            timeout: ms(250),
            redirect: false,
        }
    }

    #[test]
    fn answers_count_once_and_in_time() {
        let (series, mut progress) = (series(3), Progress::default());
        progress.sent_at(ms(1_000), &series);
        assert_eq!(progress.next(&series), ms(1_100));
        progress.sent_at(ms(1_100), &series);
        assert!(progress.answered(1, ms(1_120), &series), "the second overtakes the first");
        assert!(progress.answered(0, ms(1_150), &series));
        assert!(!progress.answered(0, ms(1_160), &series), "twice");
        assert!(!progress.answered(2, ms(1_160), &series), "never sent");
        assert!(!progress.is_over(ms(1_160), &series));
        progress.sent_at(ms(1_200), &series);
        assert_eq!(progress.next(&series), ms(1_450));
        assert!(!progress.is_over(ms(1_449), &series));
        assert!(!progress.answered(2, ms(1_451), &series), "too late");
        assert!(progress.is_over(ms(1_450), &series));
        let outcome = progress.outcome();
        assert_eq!((outcome.sent, outcome.received), (3, 2));
        assert_eq!((outcome.min, outcome.max, outcome.mean()), (ms(20), ms(150), ms(85)));
        assert!((outcome.loss() - 100.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_last_answer_ends_a_series() {
        let (series, mut progress) = (series(1), Progress::default());
        progress.sent_at(ms(5), &series);
        assert!(!progress.is_over(ms(6), &series));
        assert!(progress.answered(0, ms(6), &series));
        assert!(progress.is_over(ms(6), &series));
        assert_eq!(progress.outcome().loss(), 0.0);
    }

    #[test]
    fn long_series_remember_only_missing_parts() {
        let (series, mut progress) = (series(10_000), Progress::default());
        for number in 0..10_000_u32 {
            let at = ms(u64::from(number) * 100);
            progress.sent_at(at, &series);
            assert!(progress.away.len() <= 4);
            if number % 2 == 0 {
                assert!(progress.answered(number, at + ms(30), &series));
            }
        }
        assert_eq!(progress.outcome().received, 5_000);
        assert_eq!(progress.outcome().loss(), 50.0);
        assert!(!progress.answered(0, ms(10), &series), "long gone");
    }

    #[test]
    fn nothing_came() {
        let (series, mut progress) = (series(2), Progress::default());
        progress.sent_at(ms(0), &series);
        progress.sent_at(ms(100), &series);
        let outcome = progress.outcome();
        assert_eq!((outcome.loss(), outcome.min, outcome.mean()), (100.0, ms(0), ms(0)));
    }
}
