//! `nginx.conf`. Source: nginx's documentation of `ngx_http_core_module`, `ngx_http_upstream_module`,
//! `ngx_http_proxy_module` and `ngx_stream_*`.

mod blocks;
mod datagrams;
mod location;
mod mirror;
mod server;
mod upstream;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::names::Names;
use super::{Imported, Report};
use crate::config::{Certificate, Config, Pem, Time};
use blocks::Block;

pub(super) fn import(file: &Path) -> anyhow::Result<Imported> {
    let blocks = blocks::read(file)?;
    let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
    let mut import = Import { folder, ..Import::default() };
    let file = Block { inside: blocks, ..Block::default() };
    // A file of `conf.d` alone has `upstream` and `server` without `http` around them.
    let alone = file.first("http").is_none() && file.first("server").is_some();
    for http in file.all("http").chain(alone.then_some(&file)) {
        import.http(http);
    }
    for stream in file.all("stream") {
        import.stream(stream);
    }
    let Import { config, report, .. } = import;
    Ok(Imported { config, report })
}

/// What has been converted so far.
#[derive(Default)]
struct Import {
    /// Names of files are relative to it.
    folder: PathBuf,
    config: Config,
    report: Report,
    names: Names,
    /// Names of certificates by their files.
    certificates: BTreeMap<PathBuf, String>,
    /// Names of pools by what `proxy_pass` calls them.
    pools: BTreeMap<String, String>,
    /// Addresses that a service listens on already.
    taken: BTreeSet<SocketAddr>,
    /// The same for services of datagrams.
    taken_by_datagrams: BTreeSet<SocketAddr>,
}

impl Import {
    fn certificate(&mut self, cert: &str, key: &str) -> String {
        let (cert, key) = (self.folder.join(cert), self.folder.join(key));
        if let Some(name) = self.certificates.get(&cert) {
            return name.clone();
        }
        let stem = cert.file_stem().unwrap_or_default().to_string_lossy();
        let name = self.names.unique(&stem);
        self.certificates.insert(cert.clone(), name.clone());
        self.config.certificates.push(Certificate {
            name: name.clone(),
            cert: Pem::File(cert),
            key: Pem::File(key),
        });
        name
    }
}

/// A duration; nginx's unit is the second unless one is written.
fn time(text: &str) -> Option<Time> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().ok()?;
    let ms = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    (number > 0).then(|| Some(Time(Duration::from_millis(number.checked_mul(ms)?))))?
}

/// A size in bytes: `8k`, `1m`, `1g`.
fn size(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}
