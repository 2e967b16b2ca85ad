//! `proc.*` from `/proc/<pid>/status` and `cmdline`.

use super::{Answer, Params, float, percent, read_text, users};
use crate::Agent;

/// What a process must be like to count.
struct Filter<'a> {
    name: &'a str,
    /// `None` = any user; the inner `None` = a user that does not exist.
    uid: Option<Option<u32>>,
    state: Option<char>,
    cmdline: &'a str,
}

/// One process.
struct Process {
    status: String,
    cmdline: String,
}

impl Process {
    fn member(&self, name: &str) -> Option<&str> {
        self.status.lines().find_map(|line| {
            let (found, rest) = line.split_once(':')?;
            (found == name).then(|| rest.trim())
        })
    }

    /// Bytes of a `Vm…` line; kernel threads have none.
    fn bytes(&self, name: &str) -> Option<u64> {
        let kib: u64 = self.member(name)?.split_ascii_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    }

    fn matches(&self, filter: &Filter<'_>) -> Result<bool, String> {
        let name_ok = filter.name.is_empty()
            || self.member("Name") == Some(filter.name)
            || self.program() == Some(filter.name);
        // Real, effective, saved and file system id.
        let uid = || self.member("Uid")?.split_ascii_whitespace().nth(1)?.parse::<u32>().ok();
        let uid_ok = filter.uid.is_none_or(|wanted| wanted.is_some() && wanted == uid());
        let state_ok =
            filter.state.is_none_or(|state| self.member("State").unwrap_or("").starts_with(state));
        if !(name_ok && uid_ok && state_ok) {
            return Ok(false);
        }
        if filter.cmdline.is_empty() {
            return Ok(true);
        }
        let line = self.cmdline.trim_end_matches('\0').replace('\0', " ");
        eval::regex::is_match(filter.cmdline, &line, false).map_err(|error| error.to_string())
    }

    /// Last part of the path of the program, as started.
    fn program(&self) -> Option<&str> {
        self.cmdline.split('\0').next()?.rsplit('/').next()
    }
}

fn processes() -> Result<impl Iterator<Item = Process>, String> {
    let dir = std::fs::read_dir("/proc")
        .map_err(|e| format!("Cannot open /proc: {}", super::system_error(&e)))?;
    Ok(dir.filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        // A process that ends meanwhile is not counted.
        let status = read_text(&format!("/proc/{pid}/status")).ok()?;
        let cmdline = read_text(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(Process { status, cmdline })
    }))
}

fn user_filter(name: &str) -> Option<Option<u32>> {
    (!name.is_empty()).then(|| users::uid(name))
}

fn matching(filter: &Filter<'_>, params: &Params) -> Result<Vec<Process>, String> {
    let mut found = Vec::new();
    for process in processes()? {
        params.deadline().check()?;
        if process.matches(filter)? {
            found.push(process);
        }
    }
    Ok(found)
}

pub(super) fn num(_: &Agent, params: &Params) -> Answer {
    let states = &[
        ("all", None),
        ("run", Some('R')),
        ("sleep", Some('S')),
        ("zomb", Some('Z')),
        ("disk", Some('D')),
        ("trace", Some('T')),
    ];
    let filter = Filter {
        name: params.get(0),
        uid: user_filter(params.get(1)),
        state: params.choose(2, states)?,
        cmdline: params.regex(3)?,
    };
    Ok(matching(&filter, params)?.len().to_string())
}

/// Parameter names of memory kinds and the lines of `status` that they add up.
const MEMORY_KINDS: &[(&str, &[&str])] = &[
    ("vsize", &["VmSize"]),
    ("data", &["VmData"]),
    ("exe", &["VmExe"]),
    ("hwm", &["VmHWM"]),
    ("lck", &["VmLck"]),
    ("lib", &["VmLib"]),
    ("peak", &["VmPeak"]),
    ("pin", &["VmPin"]),
    ("pmem", &["VmRSS"]),
    ("pte", &["VmPTE"]),
    ("rss", &["VmRSS"]),
    ("size", &["VmData", "VmStk", "VmExe"]),
    ("stk", &["VmStk"]),
    ("swap", &["VmSwap"]),
];

pub(super) fn mem(_: &Agent, params: &Params) -> Answer {
    let modes = &[("sum", 's'), ("avg", 'a'), ("min", 'i'), ("max", 'x')];
    let mode = params.choose(2, modes)?;
    let lines = params.choose(4, MEMORY_KINDS)?;
    let filter = Filter {
        name: params.get(0),
        uid: user_filter(params.get(1)),
        state: None,
        cmdline: params.regex(3)?,
    };
    let bytes: Vec<u64> = matching(&filter, params)?
        .iter()
        .filter_map(|process| lines.iter().map(|line| process.bytes(line)).sum())
        .collect();
    if params.get(4) == "pmem" {
        let total = super::memory::total()?;
        let shares: Vec<f64> = bytes.iter().map(|bytes| percent(*bytes, total)).collect();
        return Ok(float(fold_shares(&shares, mode)));
    }
    Ok(fold(&bytes, mode))
}

#[expect(clippy::cast_precision_loss, reason = "a mean with six decimals")]
fn fold(bytes: &[u64], mode: char) -> String {
    let sum: u64 = bytes.iter().sum();
    match mode {
        's' => sum.to_string(),
        'i' => bytes.iter().min().unwrap_or(&0).to_string(),
        'x' => bytes.iter().max().unwrap_or(&0).to_string(),
        _ => float(if bytes.is_empty() { 0.0 } else { sum as f64 / bytes.len() as f64 }),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of processes")]
fn fold_shares(shares: &[f64], mode: char) -> f64 {
    let sum: f64 = shares.iter().sum();
    match (mode, shares) {
        (_, []) => 0.0,
        ('s', _) => sum,
        ('i', _) => shares.iter().copied().fold(f64::INFINITY, f64::min),
        ('x', _) => shares.iter().copied().fold(0.0, f64::max),
        (_, _) => sum / shares.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> Process {
        Process {
            status: "Name:\tbash\nState:\tS (sleeping)\nUid:\t0\t5\t0\t0\nVmSize:\t 10 kB\n\
                     VmData:\t 1 kB\nVmStk:\t 2 kB\nVmExe:\t 3 kB\n"
                .into(),
            cmdline: "/usr/bin/rbash\0-c\0sleep 1\0".into(),
        }
    }

    #[test]
    fn processes_are_filtered() {
        let filter = |name, uid, state, cmdline| {
            process().matches(&Filter { name, uid, state, cmdline }).unwrap()
        };
        assert!(filter("", None, None, ""));
        for (name, expected) in [("bash", true), ("rbash", true), ("/usr/bin/rbash", false)] {
            assert_eq!(filter(name, None, None, ""), expected, "{name}");
        }
        assert!(filter("", Some(Some(5)), Some('S'), "^/usr/bin/rbash -c sleep 1$"));
        assert!(!filter("", Some(Some(0)), None, ""));
        assert!(!filter("", Some(None), None, ""));
        assert!(!filter("", None, Some('R'), ""));
        assert!(!filter("", None, None, "nope"));
        let bad = Filter { name: "", uid: None, state: None, cmdline: "(" };
        assert!(process().matches(&bad).is_err());
    }

    #[test]
    fn memory_is_added_up() {
        assert_eq!(process().bytes("VmSize"), Some(10_240));
        assert_eq!(process().bytes("VmRSS"), None);
        for (mode, expected) in [('s', "6"), ('a', "2.000000"), ('i', "1"), ('x', "3")] {
            assert_eq!(fold(&[1, 2, 3], mode), expected);
        }
        assert_eq!((fold(&[], 'a'), fold(&[], 'i')), ("0.000000".into(), "0".into()));
        assert!((fold_shares(&[1.0, 2.0], 'a') - 1.5).abs() < 1e-9);
        assert!(fold_shares(&[], 'i').abs() < 1e-9);
    }
}
