//! `system.sw.packages`: installed packages of dpkg (from its database) and rpm (asked).

use std::process::Command;

use serde_json::{Value, json};

use super::{Answer, Params, read_text};
use crate::Agent;

const DPKG_STATUS: &str = "/var/lib/dpkg/status";
const NOTHING: &str = "Cannot obtain package information.";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Package {
    name: String,
    /// It may be installed for several architectures; lists then show `name:architecture`.
    multi_arch: bool,
    version: String,
    arch: String,
    size_bytes: u64,
    /// Seconds since 1970; 0 = unknown, as dpkg does not keep it.
    built: u64,
    /// As `built`.
    installed: u64,
}

impl Package {
    fn listed(&self) -> String {
        if self.multi_arch { format!("{}:{}", self.name, self.arch) } else { self.name.clone() }
    }
}

/// Installed packages of dpkg's database, sorted by name.
fn parse_dpkg(status: &str) -> Vec<Package> {
    let mut found: Vec<Package> = status
        .split("\n\n")
        .filter_map(|paragraph| {
            let member = |name: &str| {
                paragraph
                    .lines()
                    .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                    .map(str::trim)
            };
            if member("Status")?.split(' ').next_back() != Some("installed") {
                return None;
            }
            let arch = member("Architecture")?;
            let kib: u64 = member("Installed-Size").and_then(|n| n.parse().ok()).unwrap_or(0);
            Some(Package {
                name: member("Package")?.to_owned(),
                multi_arch: member("Multi-Arch") == Some("same"),
                version: member("Version")?.to_owned(),
                arch: arch.to_owned(),
                size_bytes: kib.saturating_mul(1024),
                built: 0,
                installed: 0,
            })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

const RPM_FORMAT: &str =
    "%{NAME},%{VERSION}-%{RELEASE},%{ARCH},%{SIZE},%{BUILDTIME},%{INSTALLTIME}\\n";

fn parse_rpm(text: &str) -> Vec<Package> {
    text.lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [name, version, arch, size, built, installed] = fields.as_slice() else {
                return None;
            };
            Some(Package {
                name: (*name).to_owned(),
                multi_arch: false,
                version: (*version).to_owned(),
                arch: (*arch).to_owned(),
                size_bytes: size.parse().ok()?,
                built: built.parse().ok()?,
                installed: installed.parse().unwrap_or(0),
            })
        })
        .collect()
}

/// A package manager and what it has installed.
type Managed = (&'static str, Vec<Package>);

fn all(manager: &str) -> Result<Vec<Managed>, String> {
    let wanted = |name: &str| manager.is_empty() || manager == "all" || manager == name;
    let mut found = Vec::new();
    if wanted("dpkg")
        && let Ok(status) = read_text(DPKG_STATUS)
    {
        found.push(("dpkg", parse_dpkg(&status)));
    }
    if wanted("rpm")
        && std::path::Path::new("/usr/bin/rpm").exists()
        && let Ok(output) = Command::new("/usr/bin/rpm").args(["-qa", "--qf", RPM_FORMAT]).output()
        && output.status.success()
    {
        found.push(("rpm", parse_rpm(&String::from_utf8_lossy(&output.stdout))));
    }
    if found.is_empty() { Err(NOTHING.into()) } else { Ok(found) }
}

fn filtered(params: &Params) -> Result<Vec<Managed>, String> {
    let pattern = match params.get(0) {
        "all" => "",
        pattern => pattern,
    };
    let mut found = all(params.get(1))?;
    if !pattern.is_empty() {
        params.regex(0)?;
        for (_, packages) in &mut found {
            packages.retain(|p| eval::regex::is_match(pattern, &p.name, false).unwrap_or(false));
        }
    }
    Ok(found)
}

pub(super) fn list(_: &Agent, params: &Params) -> Answer {
    let with_manager = params.choose(2, &[("full", true), ("short", false)])?;
    let lines: Vec<String> = filtered(params)?
        .iter()
        .map(|(manager, packages)| {
            let mut names: Vec<String> = packages.iter().map(Package::listed).collect();
            names.sort();
            let names = names.join(", ");
            if with_manager { format!("[{manager}] {names}") } else { names }
        })
        .collect();
    Ok(lines.join("\n"))
}

pub(super) fn get(_: &Agent, params: &Params) -> Answer {
    let rows: Vec<Value> = filtered(params)?
        .iter()
        .flat_map(|(manager, packages)| packages.iter().map(|package| json(manager, package)))
        .collect();
    Ok(json!(rows).to_string())
}

fn json(manager: &str, package: &Package) -> Value {
    let time = |seconds: u64| {
        let text = i64::try_from(seconds)
            .ok()
            .filter(|seconds| *seconds > 0)
            .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
            .map(|time| {
                let zoned = time.to_zoned(jiff::tz::TimeZone::system());
                zoned.strftime("%a %b %e %H:%M:%S %Y").to_string()
            });
        json!({ "timestamp": seconds, "value": text.unwrap_or_default() })
    };
    json!({
        "name": package.name,
        "manager": manager,
        "version": package.version,
        "size": package.size_bytes,
        "arch": package.arch,
        "buildtime": time(package.built),
        "installtime": time(package.installed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpkg_status_is_read() {
        let status = "Package: zlib\nStatus: install ok installed\nInstalled-Size: 10\n\
            Architecture: amd64\nMulti-Arch: same\nVersion: 1:2\n\nPackage: gone\n\
            Status: deinstall ok config-files\nArchitecture: all\nVersion: 1\n\n\
            Package: bash\nStatus: install ok installed\nArchitecture: amd64\n\
            Multi-Arch: foreign\nVersion: 5.2\nDescription: x\n Package: y\n";
        let found = parse_dpkg(status);
        let names: Vec<String> = found.iter().map(Package::listed).collect();
        assert_eq!(names, ["bash", "zlib:amd64"]);
        assert_eq!(found[1].name, "zlib");
        assert_eq!((found[1].version.as_str(), found[1].size_bytes), ("1:2", 10_240));
        let row = json("dpkg", &found[0]).to_string();
        let expected = r#"{"name":"bash","manager":"dpkg","version":"5.2","size":0,"arch":"amd64","buildtime":{"timestamp":0,"value":""},"installtime":{"timestamp":0,"value":""}}"#;
        assert_eq!(row, expected);
    }

    #[test]
    fn rpm_output_is_read() {
        let found = parse_rpm("bash,5.1-2.el9,x86_64,7738634,1680000000,1690000000\nbad\n");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].version.as_str(), found[0].built), ("5.1-2.el9", 1_680_000_000));
    }
}
