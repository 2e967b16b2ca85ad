//! Feeds the fuzz targets for a bounded time on stable Rust: seeds, joined, cut, turned over, and
//! words of the grammars between them. The same number gives the same inputs.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::{Context, bail};
use fuzz_targets::{TARGETS, Target};
use stdx::clock::RealClock;

/// An input that takes longer than this hangs, however loaded the machine: all of them are short.
const INPUT_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest input made, bytes.
const INPUT_BYTES_MAX: usize = 4096;

/// Pieces that grammars know.
const WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\\",
    "\0",
    "\n",
    " ",
    ",",
    ";",
    ":",
    ".",
    "..",
    "$",
    "@",
    "?(",
    "*",
    "/",
    "//",
    "+",
    "-",
    "=",
    "==",
    "!=",
    "=~",
    "<",
    ">",
    "<=",
    "&&",
    "||",
    "~",
    "#",
    "%",
    "0",
    "1",
    "-1",
    "1e308",
    "1e-400",
    "18446744073709551616",
    "9223372036854775807",
    "ö",
    "\u{ffff}",
    "and",
    "or",
    "not ",
    "null",
    "true",
    "{$M}",
    "{#L}",
    "{1}",
    "last(/h/k)",
    ",#1",
    ":now/d",
    "5m",
    "1K",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "text()",
    "::",
    "[1]",
    "length()",
    "sum()",
    "= STRING: ",
    "Hex-STRING: ",
    ".1.3.6",
    "m{l=\"a\"} 1\n",
    "ZBXD\u{1}",
    "\\1",
    "(?i)",
    "{2,}",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }
}

/// When a target has had enough.
#[derive(Clone, Copy)]
enum Enough {
    /// The same inputs in each run.
    Inputs(u64),
    /// As many as fit.
    Time(Duration),
}

/// Runs the targets named, or all: `--inputs` each, or for `--seconds` in all.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let (mut seconds, mut inputs, mut seed, mut names) = (30.0, None, 1, Vec::new());
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().context("a number is missing");
        match argument.as_str() {
            "--seconds" => seconds = number()?.parse::<f64>()?,
            "--inputs" => inputs = Some(number()?.parse::<u64>()?),
            "--seed" => seed = number()?.parse::<u64>()?,
            name if name.starts_with('-') => bail!("unknown parameter {name}"),
            name => names.push(name.to_owned()),
        }
    }
    let wanted = |t: &&Target| names.is_empty() || names.iter().any(|n| n == t.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    if targets.is_empty() {
        let all: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
        bail!("no such target; there are {}", all.join(", "));
    }
    let share = Duration::from_secs_f64(seconds) / u32::try_from(targets.len())?;
    let enough = inputs.map_or(Enough::Time(share), Enough::Inputs);
    // A panic is a result here, not news for the terminal.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut text, mut failed) = (String::new(), 0);
    for target in &targets {
        match feed(target, enough, seed) {
            Ok(runs) => writeln!(text, "{:12} {runs:8} inputs", target.name)?,
            Err(reason) => {
                failed += 1;
                writeln!(text, "{:12} FAILED: {reason}", target.name)?;
            }
        }
    }
    drop(std::panic::take_hook());
    writeln!(text, "{} passed, {failed} failed", targets.len() - failed)?;
    if failed > 0 {
        bail!("{failed} targets failed\n{text}");
    }
    Ok(text)
}

/// The number of inputs, or what went wrong with which.
fn feed(target: &Target, enough: Enough, seed: u64) -> Result<u64, String> {
    let clock = RealClock::shared();
    let start = clock.monotonic();
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut runs = 0;
    for input in target.seeds {
        attempt(target, input.as_bytes())?;
        runs += 1;
    }
    let goes_on = |runs: u64| match enough {
        Enough::Inputs(inputs) => runs < inputs,
        Enough::Time(share) => clock.monotonic() - start < share,
    };
    while goes_on(runs) {
        let input = make(target, &mut random);
        attempt(target, &input)?;
        runs += 1;
    }
    Ok(runs)
}

fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    // CPU time: other programs may keep the machine busy.
    let start = stdx::sys::thread_cpu_time();
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = stdx::sys::thread_cpu_time().saturating_sub(start);
    let what = match ended {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            format!("panicked: {}", text.unwrap_or("without words"))
        }
        Ok(()) if took > INPUT_TIME_MAX => format!("took {} ms", took.as_millis()),
        Ok(()) => return Ok(()),
    };
    Err(format!("{what}\n    input: \"{}\"", input.escape_ascii()))
}

/// A seed with some changes.
fn make(target: &Target, random: &mut Random) -> Vec<u8> {
    let seed = |random: &mut Random| {
        let at = random.below(target.seeds.len());
        target.seeds.get(at).map_or(Vec::new(), |s| s.as_bytes().to_vec())
    };
    let mut input = seed(random);
    for _ in 0..=random.below(8) {
        let at = random.below(input.len() + 1);
        match random.below(7) {
            0 => input.truncate(at),
            1 => {
                let word = WORDS[random.below(WORDS.len())];
                input.splice(at..at, word.bytes());
            }
            2 => {
                let other = seed(random);
                let from = random.below(other.len() + 1);
                input.splice(at..at, other[from..].iter().copied());
            }
            3 => {
                let end = (at + random.below(16)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                let end = (at + random.below(32)).min(input.len());
                let part = input[at..end].to_vec();
                let times = random.below(40);
                input.splice(at..at, part.repeat(times));
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = random.next().to_le_bytes()[0];
                }
            }
        }
        input.truncate(INPUT_BYTES_MAX);
    }
    input
}
