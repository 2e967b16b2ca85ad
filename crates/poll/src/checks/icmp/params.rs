//! `icmpping`, `icmppingloss`, `icmppingsec`: their parameters, and what each makes of a series.

use std::net::SocketAddr;
use std::time::Duration;

use eval::key::ItemKey;
use wire::icmp::{DATA_BYTES_MAX, DATA_BYTES_MIN};

use super::series::{Outcome, Series};

const PACKETS: u32 = 3;
const PACKETS_MAX: u32 = 10_000;
const INTERVAL: Duration = Duration::from_millis(1_000);
const INTERVAL_MS_MIN: u32 = 20;
const SIZE: usize = 56;
const TIMEOUT_MS_MIN: u32 = 50;
/// Without a timeout of its own a packet waits for the next one to go, but no longer than this.
const TIMEOUT_MAX: Duration = Duration::from_millis(2_000);
/// Answers are never faster than a value can show.
const SECONDS_MIN: f64 = 0.0001;

/// What an item wants to know of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Whether anything came back: 1 or 0.
    Up,
    /// Percent of packets lost.
    Loss,
    /// Seconds of the fastest answer.
    Fastest,
    /// Seconds of the slowest answer.
    Slowest,
    /// Mean seconds of an answer.
    Mean,
}

/// A ping item, as its key says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ping {
    pub(crate) measure: Measure,
    /// Empty = the address of the item's interface.
    pub(crate) target: String,
    packets: u32,
    interval: Duration,
    size: usize,
    timeout: Duration,
    redirect: bool,
}

impl Ping {
    /// Reads a key; the error is the item's.
    pub(crate) fn parse(key: &ItemKey) -> Result<Self, String> {
        let (options_at, mut measure) = match key.name.as_str() {
            "icmpping" => (5, Measure::Up),
            "icmppingloss" => (5, Measure::Loss),
            "icmppingsec" => (6, Measure::Mean),
            _ => return Err("Unsupported item key.".to_owned()),
        };
        if key.param_count() > options_at + 1 {
            return Err("Too many arguments.".to_owned());
        }
        let text = |at| key.param(at).unwrap_or_default();
        let number = |at: usize, min: u32, max: u32, wrong: &dyn Fn(&str) -> String| {
            let text = text(at);
            if text.is_empty() {
                return Ok(None);
            }
            let number = unsigned(&text).filter(|number| (min..=max).contains(number));
            number.map(Some).ok_or_else(|| wrong(&text))
        };
        let packets = number(1, 1, PACKETS_MAX, &|text| {
            format!("Number of packets \"{text}\" is not between 1 and {PACKETS_MAX}.")
        })?;
        let interval = number(2, INTERVAL_MS_MIN, u32::MAX, &|text| {
            format!("Interval \"{text}\" should be at least {INTERVAL_MS_MIN}.")
        })?;
        let (least, most) = (u32_of(DATA_BYTES_MIN), u32_of(DATA_BYTES_MAX));
        let size = number(3, least, most, &|text| {
            format!("Packet size \"{text}\" is not between {least} and {most}.")
        })?;
        let timeout = number(4, TIMEOUT_MS_MIN, u32::MAX, &|text| {
            format!("Timeout \"{text}\" should be at least {TIMEOUT_MS_MIN}.")
        })?;
        if options_at == 6 {
            measure = match text(5).as_str() {
                "" | "avg" => Measure::Mean,
                "min" => Measure::Fastest,
                "max" => Measure::Slowest,
                other => return Err(format!("Mode \"{other}\" is not supported.")),
            };
        }
        let redirect = match text(options_at).as_str() {
            "" => false,
            "allow_redirect" => true,
            other => {
                return Err(format!(
                    "\"{other}\" is not supported as the \"options\" parameter value."
                ));
            }
        };
        let millis = |ms: u32| Duration::from_millis(u64::from(ms));
        let interval = interval.map_or(INTERVAL, millis);
        Ok(Self {
            measure,
            target: text(0),
            packets: packets.unwrap_or(PACKETS),
            interval,
            size: size.map_or(SIZE, |size| usize::try_from(size).unwrap_or(SIZE)),
            timeout: timeout.map_or(interval.min(TIMEOUT_MAX), millis),
            redirect,
        })
    }

    /// The packets that it takes to know.
    pub(crate) fn series(&self, to: SocketAddr) -> Series {
        Series {
            to,
            packets: self.packets,
            interval: self.interval,
            size: self.size,
            timeout: self.timeout,
            redirect: self.redirect,
        }
    }

    /// The item's value.
    pub(crate) fn value(&self, outcome: &Outcome) -> String {
        let time = |time: Duration| seconds((outcome.received > 0).then_some(time));
        match self.measure {
            Measure::Up => u8::from(outcome.received > 0).to_string(),
            Measure::Loss => outcome.loss().to_string(),
            Measure::Fastest => time(outcome.min),
            Measure::Slowest => time(outcome.max),
            Measure::Mean => time(outcome.mean()),
        }
    }
}

/// Seconds with six decimals at most; 0 where nothing was measured, and never 0 where it was.
pub(crate) fn seconds(measured: Option<Duration>) -> String {
    let Some(measured) = measured else { return String::from("0") };
    let text = format!("{:.6}", measured.as_secs_f64().max(SECONDS_MIN));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Digits only, spaces before them allowed as in all parameters.
fn unsigned(text: &str) -> Option<u32> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn u32_of(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(key: &str) -> Result<Ping, String> {
        Ping::parse(&ItemKey::parse(key).unwrap())
    }

    #[test]
    fn defaults() {
        let ms = Duration::from_millis;
        for (key, packets, interval, size, timeout, redirect, measure) in [
            ("icmpping", 3, 1_000, 56, 1_000, false, Measure::Up),
            ("icmpping[]", 3, 1_000, 56, 1_000, false, Measure::Up),
            ("icmppingloss[h,5,200,68,500,allow_redirect]", 5, 200, 68, 500, true, Measure::Loss),
            ("icmppingloss[h,01, 20,,]", 1, 20, 56, 20, false, Measure::Loss),
            ("icmppingsec[h,10000,3000,65507]", 10_000, 3_000, 65_507, 2_000, false, Measure::Mean),
            ("icmppingsec[h,,,,50,min]", 3, 1_000, 56, 50, false, Measure::Fastest),
            ("icmppingsec[,,,24,,max,allow_redirect]", 3, 1_000, 24, 1_000, true, Measure::Slowest),
        ] {
            let ping = parse(key).unwrap();
            let to = ([127, 0, 0, 1], 0).into();
            let (interval, timeout) = (ms(interval), ms(timeout));
            let wanted = Series { to, packets, interval, size, timeout, redirect };
            assert_eq!((ping.series(to), ping.measure), (wanted, measure), "{key}");
        }
    }

    #[test]
    fn refused_parameters() {
        let packets = |text| format!("Number of packets \"{text}\" is not between 1 and 10000.");
        let option =
            |text| format!("\"{text}\" is not supported as the \"options\" parameter value.");
        for (key, error) in [
            ("icmppingfoo[h]", "Unsupported item key.".to_owned()),
            ("icmpping[,0,1,1,1,foo,x]", "Too many arguments.".to_owned()),
            ("icmppingsec[h,,,,,min,,]", "Too many arguments.".to_owned()),
            ("icmpping[,0,1,1,1,foo]", packets("0")),
            ("icmpping[h,10001]", packets("10001")),
            ("icmpping[h,-1]", packets("-1")),
            ("icmpping[h,+1]", packets("+1")),
            ("icmpping[h,1.5]", packets("1.5")),
            ("icmpping[h,99999999999]", packets("99999999999")),
            ("icmpping[,1,1,1,1,foo]", "Interval \"1\" should be at least 20.".to_owned()),
            ("icmpping[,1,1K]", "Interval \"1K\" should be at least 20.".to_owned()),
            (
                "icmpping[,1,4294967296]",
                "Interval \"4294967296\" should be at least 20.".to_owned(),
            ),
            (
                "icmpping[,1,20,23,1,foo]",
                "Packet size \"23\" is not between 24 and 65507.".to_owned(),
            ),
            ("icmpping[,,,65508]", "Packet size \"65508\" is not between 24 and 65507.".to_owned()),
            ("icmpping[,1,20,24,49,foo]", "Timeout \"49\" should be at least 50.".to_owned()),
            ("icmppingsec[,1,20,24,50,bar,foo]", "Mode \"bar\" is not supported.".to_owned()),
            ("icmppingsec[,,,,,MAX]", "Mode \"MAX\" is not supported.".to_owned()),
            ("icmpping[h,,,,,foo]", option("foo")),
            ("icmppingsec[h,,,,,min,ALLOW_REDIRECT]", option("ALLOW_REDIRECT")),
        ] {
            assert_eq!(parse(key), Err(error), "{key}");
        }
    }

    #[test]
    fn values() {
        let us = Duration::from_micros;
        let some = Outcome { sent: 3, received: 2, min: us(20), max: us(1_500), sum: us(1_520) };
        let none = Outcome { sent: 3, ..Outcome::default() };
        for (key, of_some, of_none) in [
            ("icmpping", "1", "0"),
            ("icmppingloss", "33.333333333333336", "100"),
            ("icmppingsec", "0.00076", "0"),
            ("icmppingsec[,,,,,min]", "0.0001", "0"),
            ("icmppingsec[,,,,,max]", "0.0015", "0"),
        ] {
            let ping = parse(key).unwrap();
            assert_eq!(ping.value(&some), of_some, "{key}");
            assert_eq!(ping.value(&none), of_none, "{key}");
        }
        assert_eq!(seconds(Some(Duration::from_secs(100))), "100");
    }
}
