//! Services that greet with a line: mail, files, news, shells.

use super::{Service, Verdict};

/// Of a line only the begin matters.
const LINE_BYTES_MAX: usize = 256;

/// Reads lines until one tells.
#[derive(Debug)]
pub(super) struct Greeting {
    service: Service,
    line: Vec<u8>,
}

impl Greeting {
    pub(super) fn new(service: Service) -> Self {
        Self { service, line: Vec::new() }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Verdict {
        for byte in bytes {
            if *byte != b'\n' {
                if self.line.len() < LINE_BYTES_MAX {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            let verdict = judge(self.service, line);
            if verdict == Verdict::Up {
                *out = farewell(self.service, line);
            }
            self.line.clear();
            if verdict != Verdict::Open {
                return verdict;
            }
        }
        Verdict::Open
    }
}

/// What one line says, without its end.
fn judge(service: Service, line: &[u8]) -> Verdict {
    use Verdict::{Down, Open, Up};
    let is_ok = |ok: bool| if ok { Up } else { Down };
    match service {
        // RFC 5321, 4.2: a hyphen behind the code promises another line.
        Service::Smtp => match line.strip_prefix(b"220") {
            Some([] | [b' ', ..]) => Up,
            Some([b'-', ..]) => Open,
            _ => Down,
        },
        // RFC 959, 5.4: there may be a 120 before, and lines of text.
        Service::Ftp if line.starts_with(b"220 ") => Up,
        Service::Ftp => Open,
        Service::Pop => is_ok(line.starts_with(b"+OK")),
        Service::Nntp => is_ok(line.starts_with(b"200") || line.starts_with(b"201")),
        Service::Imap => is_ok(line.starts_with(b"* OK")),
        // RFC 4253, 4.2: there may be lines before.
        Service::Ssh if version(line).is_some() => Up,
        _ => Open,
    }
}

fn farewell(service: Service, line: &[u8]) -> Vec<u8> {
    match service {
        Service::Imap => b"a1 LOGOUT\r\n".to_vec(),
        // The service's own version, so that it takes the line for one that it can speak with.
        Service::Ssh => version(line)
            .map(|version| format!("SSH-{version}-vedette\r\n").into_bytes())
            .unwrap_or_default(),
        _ => b"QUIT\r\n".to_vec(),
    }
}

/// `2.0` of `SSH-2.0-…`
fn version(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line.get(..line.len().min(64))?).ok();
    let text = text.or_else(|| std::str::from_utf8(line.get(..16)?).ok())?;
    let text = text.strip_prefix("SSH-")?;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let major = digits(text);
    let minor = digits(text.get(major..)?.strip_prefix('.')?);
    (major > 0 && minor > 0).then(|| &text[..major + 1 + minor])
}
