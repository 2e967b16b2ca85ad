//! `haproxy.cfg`. Source: HAProxy's configuration manual, version 3.0.

mod back;
mod bind;
mod condition;
mod front;
mod rules;
mod sections;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use super::names::Names;
use super::{Directive, Imported, Report};
use crate::config::{Certificate, Config, Pem, Time};
use sections::{Kind, Section};

/// Directives without an influence on what clients and servers see, or that the engine does always.
const NOT_NEEDED: [&str; 12] = [
    "description",
    "id",
    "log",
    "log-format",
    "log-format-sd",
    "log-tag",
    "unique-id-format",
    "unique-id-header",
    "stats",
    "declare",
    "fullconn",
    "load-server-state-from-file",
];

pub(super) fn import(file: &Path) -> anyhow::Result<Imported> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let sections = sections::read(&name, &text)?;
    let mut import = Import::default();
    for section in sections.iter().filter(|section| section.kind != Kind::Backend) {
        import.front(section, &sections);
    }
    for section in &sections {
        let used = import.used.contains(section.name.as_str());
        match section.kind {
            Kind::Frontend => {}
            Kind::Backend | Kind::Listen if used => import.back(section),
            Kind::Backend => {
                let at = Directive {
                    words: vec!["backend".into(), section.name.clone()],
                    ..first(section)
                };
                import.report.missing(&at, "no frontend uses it");
            }
            Kind::Listen => {}
        }
    }
    let Import { config, report, .. } = import;
    Ok(Imported { config, report })
}

fn first(section: &Section) -> Directive {
    section.own.first().cloned().unwrap_or_default()
}

/// What has been converted so far.
#[derive(Default)]
struct Import {
    config: Config,
    report: Report,
    names: Names,
    /// Names of certificates by their files.
    certificates: BTreeMap<PathBuf, String>,
    /// Backends that a service forwards to.
    used: BTreeSet<String>,
}

impl Import {
    /// The name of a file with a certificate and its key, as HAProxy keeps them.
    fn certificate(&mut self, file: &Path) -> String {
        let known = self.certificates.get(file).cloned();
        known.unwrap_or_else(|| {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = self.names.unique(&stem);
            let beside = PathBuf::from(format!("{}.key", file.display()));
            let key = if beside.exists() { beside } else { file.to_owned() };
            self.certificates.insert(file.to_owned(), name.clone());
            self.config.certificates.push(Certificate {
                name: name.clone(),
                cert: Pem::File(file.to_owned()),
                key: Pem::File(key),
            });
            name
        })
    }
}

/// The value of `timeout NAME`, the last of which decides.
fn timeout(section: &Section, name: &str) -> Option<Time> {
    let named =
        |directive: &&Directive| directive.name() == "timeout" && directive.parameter(0) == name;
    time(section.directives().filter(named).last()?.parameter(1))
}

/// A duration; HAProxy's unit is the millisecond unless one is written.
fn time(text: &str) -> Option<Time> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().ok()?;
    let ms = match unit {
        "us" => number.div_ceil(1000),
        "" | "ms" => number,
        "s" => number.checked_mul(1_000)?,
        "m" => number.checked_mul(60_000)?,
        "h" => number.checked_mul(3_600_000)?,
        "d" => number.checked_mul(86_400_000)?,
        _ => return None,
    };
    (ms > 0).then(|| Time(Duration::from_millis(ms)))
}

/// Whether `mode tcp` holds; HAProxy's default is `tcp`.
fn is_http(section: &Section) -> bool {
    section.last("mode").is_some_and(|mode| mode.parameter(0) == "http")
}

/// Whether `option NAME` holds; `no option NAME` ends it.
fn option<'a>(section: &'a Section, name: &str) -> Option<&'a Directive> {
    let last = section.directives().filter(|directive| {
        let words = directive.words.strip_prefix(&["no".to_owned()]).unwrap_or(&directive.words);
        words.first().is_some_and(|word| word == "option")
            && words.get(1).is_some_and(|w| w == name)
    });
    last.last().filter(|directive| directive.name() == "option")
}
