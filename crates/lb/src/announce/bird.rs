//! BIRD: its configuration, and its control socket.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use socket2::{Domain, SockAddr, Socket, Type};
use stdx::clock::{Clock, SharedClock};

use super::devices::OF_VIPS;
use crate::config::Bird;

/// Longest time for a command.
const PATIENCE: Duration = Duration::from_secs(5);
/// Characters of BIRD's own texts in an error.
const QUOTED_MAX: usize = 200;
/// Longest response to a command.
const RESPONSE_MAX: usize = 64 << 10;
/// Names of the devices of routes begin with it, and so do their files.
pub(super) const OF_ROUTES: &str = "vedbgp";
/// The file that all engines of the machine write alike.
const COMMON: &str = "vedette.conf";

/// Neighbours, and which routes they learn.
fn common(config: &Bird) -> String {
    let Bird { router_id, local_as, neighbours, bfd, .. } = config;
    let router_id = match router_id {
        Some(id) => id.to_string(),
        // All engines have the VIPs, so these identify none.
        None => format!("from -\"{OF_VIPS}*\", \"*\""),
    };
    let mut text = format!(
        "# Written by vedette engine.\n\
         router id {router_id};\n\
         protocol bfd vedette_bfd {{\n  \
           interface \"*\" {{ interval {} ms; multiplier {}; }};\n}}\n",
        bfd.interval.0.as_millis(),
        bfd.multiplier,
    );
    for (number, neighbour) in neighbours.iter().enumerate() {
        let channel = if neighbour.address.is_ipv4() { "ipv4" } else { "ipv6" };
        let _infallible = write!(
            text,
            "protocol bgp vedette_bgp_{number} {{\n  \
               local as {local_as};\n  \
               neighbor {} as {};\n  \
               bfd on;\n  \
               connect retry time 1;\n  connect delay time 1;\n  error wait time 1, 10;\n  \
               {channel} {{ import none; export where proto ~ \"vedette_vips_*\"; next hop self; }};\n}}\n",
            neighbour.address, neighbour.autonomous_system,
        );
    }
    text
}

/// Routes to VIPs, which end with a device.
fn routes(vips: &BTreeSet<IpAddr>, device: &str) -> String {
    let mut text = "# Written by vedette engine.\n".to_owned();
    for (channel, length) in [("ipv4", 32), ("ipv6", 128)] {
        let mut vips = vips.iter().filter(|vip| vip.is_ipv4() == (channel == "ipv4")).peekable();
        if vips.peek().is_none() {
            continue;
        }
        let _infallible =
            writeln!(text, "protocol static vedette_vips_{channel}_{device} {{\n  {channel};");
        for vip in vips {
            let _infallible = writeln!(text, "{}", route(*vip, length, device));
        }
        text.push_str("}\n");
    }
    text
}

fn route(vip: IpAddr, length: u8, device: &str) -> String {
    format!("  route {vip}/{length} via \"{device}\";")
}

fn file_of(device: &str) -> String {
    format!("{device}.conf")
}

/// Whether another process of this machine announces all of these.
pub(super) fn announced_by_others(config: &Bird, own: &str, vips: &BTreeSet<IpAddr>) -> bool {
    let mut others = String::new();
    for (device, path) in processes(&config.folder) {
        if device != own && exists(&device) {
            others += &std::fs::read_to_string(path).unwrap_or_default();
        }
    }
    let told = |vip: &IpAddr| others.contains(&format!("route {vip}/"));
    !vips.is_empty() && vips.iter().all(told)
}

/// Devices that have a file, with its path.
fn processes(folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |path: std::path::PathBuf| {
        let device = path.file_stem()?.to_str()?.to_owned();
        let known = device.starts_with(OF_ROUTES) && path.extension()? == "conf";
        known.then_some((device, path))
    };
    entries.filter_map(|entry| of(entry.path())).collect()
}

/// Whether the network of this process has a device. `/sys` may be that of another network.
fn exists(device: &str) -> bool {
    let devices = std::fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let mut names = devices.lines().filter_map(|line| line.split_once(':'));
    names.any(|(name, _)| name.trim() == device)
}

/// Writes what all processes of the machine have in common. Once for each process: one that drains must not
/// bring back the neighbours of former settings.
pub(super) fn write_common(config: &Bird) -> anyhow::Result<()> {
    if config.neighbours.is_empty() { Ok(()) } else { replace(config, COMMON, &common(config)) }
}

/// Writes the file of this process and removes those of processes that are gone.
pub(super) fn write(config: &Bird, device: &str, vips: &BTreeSet<IpAddr>) -> anyhow::Result<()> {
    for (other, path) in processes(&config.folder) {
        if other != device && !exists(&other) {
            let _gone = std::fs::remove_file(path);
        }
    }
    replace(config, &file_of(device), &routes(vips, device))
}

fn replace(config: &Bird, name: &str, text: &str) -> anyhow::Result<()> {
    let replaced = || -> std::io::Result<()> {
        std::fs::create_dir_all(&config.folder)?;
        let path = config.folder.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        stdx::file::replace(&path, text.as_bytes())?;
        // BIRD reads it as another user.
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644))
    };
    replaced().with_context(|| format!("cannot write to {}", config.folder.display()))
}

/// Removes the file of this process.
pub(super) fn remove(config: &Bird, device: &str) {
    let _gone = std::fs::remove_file(config.folder.join(file_of(device)));
}

/// Lets BIRD read its configuration again.
pub(super) fn configure(socket: &Path, clock: &SharedClock) -> anyhow::Result<()> {
    let response = command(socket, "configure", &**clock)
        .with_context(|| format!("BIRD does not respond at {}", socket.display()))?;
    let problem = response.lines().find(|line| line.starts_with(['8', '9']));
    match problem {
        Some(problem) => bail!("BIRD refuses its configuration: {}", quoted(problem)),
        None => Ok(()),
    }
}

/// A text of BIRD on one line of a log.
fn quoted(text: &str) -> String {
    text.trim_end().chars().take(QUOTED_MAX).flat_map(char::escape_debug).collect()
}

/// Runs a command; the response has the lines with their codes.
fn command(socket: &Path, command: &str, clock: &dyn Clock) -> anyhow::Result<String> {
    let end = clock.monotonic() + PATIENCE;
    let stream = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A process that hangs accepts no connection, and connecting would wait for that.
    stream.set_nonblocking(true)?;
    stream.connect(&SockAddr::unix(socket)?)?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = Input { stream: &stream, text: Vec::new(), end, clock };
    let greeting = input.response()?;
    let is_bird = greeting.starts_with("0001");
    ensure!(is_bird, "it is not a control socket of BIRD: {}", quoted(&greeting));
    (&stream).write_all(format!("{command}\n").as_bytes())?;
    let response = input.response()?;
    let _gone = stream.shutdown(Shutdown::Both);
    Ok(response)
}

struct Input<'s> {
    stream: &'s Socket,
    text: Vec<u8>,
    /// Monotonic time.
    end: Duration,
    clock: &'s dyn Clock,
}

impl Input<'_> {
    /// Reads up to the line that ends a response: a code, and no hyphen after it.
    fn response(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = end_of_response(&self.text) {
                let rest = self.text.split_off(end);
                let response = std::mem::replace(&mut self.text, rest);
                return Ok(String::from_utf8_lossy(&response).into_owned());
            }
            ensure!(self.text.len() < RESPONSE_MAX, "its response is too long");
            let left = self.end.saturating_sub(self.clock.monotonic());
            ensure!(!left.is_zero(), "it takes longer than {} s", PATIENCE.as_secs());
            // Less than a microsecond would be no limit.
            self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => bail!("it closed the connection"),
                Ok(length) => self.text.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Where the first complete response ends.
fn end_of_response(text: &[u8]) -> Option<usize> {
    let mut begin = 0;
    while let Some(length) = text[begin..].iter().position(|byte| *byte == b'\n') {
        let line = &text[begin..begin + length];
        begin += length + 1;
        let has_code = line.len() >= 4 && line[..4].iter().all(u8::is_ascii_digit);
        if has_code && line.get(4) != Some(&b'-') {
            return Some(begin);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use balancing::{Bfd, Neighbour};
    use stdx::clock::RealClock;

    use super::*;

    #[test]
    fn a_response_ends_with_a_code_without_hyphen() {
        let text = b"0002-Reading configuration from x\n0003 Reconfigured\nmore";
        assert_eq!(end_of_response(text), Some(text.len() - 4));
        for incomplete in ["", "0003 Reconfigured", "0002-Reading\n", " 0003 x\n", "x\n"] {
            assert_eq!(end_of_response(incomplete.as_bytes()), None, "{incomplete:?}");
        }
    }

    #[test]
    fn each_family_has_a_protocol_whose_routes_end_with_the_device() {
        let vips = ["192.0.2.1", "2001:db8::1"].map(|vip| vip.parse().unwrap()).into();
        let text = routes(&vips, "vedbgp7");
        assert!(text.contains("protocol static vedette_vips_ipv4_vedbgp7 {\n  ipv4;\n"), "{text}");
        assert!(text.contains("  route 192.0.2.1/32 via \"vedbgp7\";\n"), "{text}");
        assert!(text.contains("  route 2001:db8::1/128 via \"vedbgp7\";\n"), "{text}");
        assert!(!routes(&BTreeSet::new(), "vedbgp7").contains("protocol"));
    }

    #[test]
    fn a_process_that_drains_keeps_the_neighbours_of_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let of = |neighbour: &str| Bird {
            router_id: None,
            local_as: 1,
            neighbours: vec![Neighbour {
                address: neighbour.parse().unwrap(),
                autonomous_system: 2,
            }],
            bfd: Bfd::default(),
            bird: PathBuf::new(),
            folder: dir.path().to_owned(),
        };
        let (old, new) = (of("10.0.0.2"), of("10.0.0.3"));
        let vips = ["192.0.2.1".parse().unwrap()].into();
        for (config, device) in [(&old, "vedbgp1"), (&new, "vedbgp2")] {
            write_common(config).unwrap();
            write(config, device, &vips).unwrap();
        }
        write(&old, "vedbgp1", &BTreeSet::new()).unwrap();
        let text = std::fs::read_to_string(dir.path().join(COMMON)).unwrap();
        assert!(text.contains("neighbor 10.0.0.3 as 2"), "{text}");
    }

    /// What a control socket that sends this text leads to.
    fn configured(sent: &'static [u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bird.ctl");
        let listener = UnixListener::bind(&path).unwrap();
        let bird = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _client_gone = stream.write_all(sent);
            if sent.starts_with(b"0001") {
                let _command = stream.read(&mut [0; 100]);
            }
        });
        let result = configure(&path, &RealClock::shared()).map_err(|error| format!("{error:#}"));
        bird.join().unwrap();
        result.err().unwrap_or_default()
    }

    /// What a control socket leads to that accepts and then sends this as slowly, or nothing more.
    fn hung(begin: &'static [u8], drip: bool) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bird.ctl");
        let listener = UnixListener::bind(&path).unwrap();
        let bird = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(begin).unwrap();
            while drip && stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
            // The engine gives up.
            let _command = stream.read_to_end(&mut Vec::new());
        });
        let error = configure(&path, &RealClock::shared()).unwrap_err();
        bird.join().unwrap();
        format!("{error:#}")
    }

    #[test]
    fn silent_and_slow_sockets_are_given_up() {
        let cases: [(&[u8], bool); 4] = [
            (b"", false),
            (b"0001 BIRD ready.\n", false),
            (b"", true),
            (b"0001 ready.\n0002-", true),
        ];
        let all = cases.map(|(begin, drip)| std::thread::spawn(move || hung(begin, drip)));
        for one in all {
            let error = one.join().unwrap();
            assert!(error.contains("it takes longer than 5 s"), "{error}");
        }
    }

    #[test]
    fn long_responses_are_neither_read_nor_quoted_in_whole() {
        static LINES: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            [&b"0001 BIRD ready.\n"[..], &b"0002-Reading configuration\n".repeat(40_000)].concat()
        });
        let lines = configured(&LINES);
        assert!(lines.contains("too long"), "{lines}");
        static LINE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            [&b"0001 BIRD ready.\n8002 \x1b[0m"[..], &[b'x'; 50_000], b"\n"].concat()
        });
        let line = configured(&LINE);
        assert!(line.contains("refuses its configuration: 8002 \\u{1b}[0mxx"), "{line}");
        assert!(line.len() < 400, "{line}");
    }

    #[test]
    fn damaged_and_refusing_sockets_are_errors() {
        let good = b"0001 BIRD 2.0.12 ready.\n0002-Reading configuration\n0003 Reconfigured\n";
        assert_eq!(configured(good), "");
        let refused = configured(b"0001 BIRD ready.\n8002 /etc/bird/x.conf:1:1 syntax error\n");
        assert!(refused.contains("x.conf:1:1 syntax error"), "{refused}");
        let other = configured(b"0042 other\n");
        assert!(other.contains("not a control socket of BIRD"), "{other}");
        let closed = configured(b"garbage\nmore garbage");
        assert!(closed.contains("closed the connection"), "{closed}");
        static LONG: [u8; 1 << 20] = [b'x'; 1 << 20];
        let long = configured(&LONG);
        assert!(long.contains("too long"), "{long}");
        let missing = configure(Path::new("/nonexistent/bird.ctl"), &RealClock::shared());
        let missing = missing.unwrap_err();
        assert!(
            format!("{missing:#}").contains("/nonexistent/bird.ctl: No such file"),
            "{missing:#}"
        );
    }
}
