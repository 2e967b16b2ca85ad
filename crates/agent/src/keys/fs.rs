//! `vfs.fs.*`: mounted file systems.

use std::path::Path;

use serde_json::{Value, json};
use stdx::sys::{FsSpace, fs_space};

use super::{Answer, Params, float, percent, read_text, system_error};
use crate::Agent;

/// One line of `/proc/mounts`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    name: String,
    fs_type: String,
    options: String,
}

fn parse_mounts(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (name, fs_type, options) = (words.next()?, words.next()?, words.next()?);
            Some(Mount {
                name: unescape(name),
                fs_type: fs_type.to_owned(),
                options: options.to_owned(),
            })
        })
        .collect()
}

/// The kernel writes blanks, tabs, line feeds and backslashes in names as `\040`.
fn unescape(name: &str) -> String {
    let mut out = Vec::with_capacity(name.len());
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\')
            .then(|| name.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Figures of bytes or of inodes.
#[derive(Debug, PartialEq)]
struct Figures {
    total: u64,
    free: u64,
    used: u64,
    pfree: f64,
    pused: f64,
}

impl Figures {
    /// `free` is what an ordinary user gets; the percentages leave out what root keeps.
    fn bytes(space: &FsSpace) -> Self {
        let used = space.total.saturating_sub(space.free);
        let base = used + space.available;
        let (pfree, pused) = if base == 0 {
            (0.0, 0.0)
        } else {
            let pfree = percent(space.available, base);
            (pfree, 100.0 - pfree)
        };
        Self { total: space.total, free: space.available, used, pfree, pused }
    }

    fn inodes(space: &FsSpace) -> Self {
        let (total, free) = (space.inodes_total, space.inodes_available);
        let reserved = space.inodes_free.saturating_sub(free);
        let base = total.saturating_sub(reserved);
        let (pfree, pused) = if base == 0 {
            (100.0, 0.0)
        } else {
            let pfree = percent(free, base);
            (pfree, 100.0 - pfree)
        };
        let used = total.saturating_sub(space.inodes_free);
        Self { total, free, used, pfree, pused }
    }

    fn mode(&self, params: &Params) -> Answer {
        let modes = &[("total", 't'), ("free", 'f'), ("used", 'u'), ("pfree", 'F'), ("pused", 'U')];
        Ok(match params.choose(1, modes)? {
            't' => self.total.to_string(),
            'f' => self.free.to_string(),
            'u' => self.used.to_string(),
            'F' => float(self.pfree),
            _ => float(self.pused),
        })
    }

    /// Written by hand, for agents tell percentages with six decimals always.
    fn json(&self) -> String {
        format!(
            "{{\"total\":{},\"free\":{},\"used\":{},\"pfree\":{:.6},\"pused\":{:.6}}}",
            self.total, self.free, self.used, self.pfree, self.pused
        )
    }
}

fn space_of(params: &Params) -> Result<FsSpace, String> {
    let name = params.get(0);
    if name.is_empty() {
        return Err("Filesystem name cannot be empty.".into());
    }
    fs_space(Path::new(name))
        .map_err(|e| format!("Cannot obtain filesystem information: {}", system_error(&e)))
}

pub(super) fn size(_: &Agent, params: &Params) -> Answer {
    Figures::bytes(&space_of(params)?).mode(params)
}

pub(super) fn inode(_: &Agent, params: &Params) -> Answer {
    Figures::inodes(&space_of(params)?).mode(params)
}

fn mounts() -> Result<Vec<Mount>, String> {
    read_text("/proc/mounts").map(|text| parse_mounts(&text))
}

pub(super) fn discovery(_: &Agent, _: &Params) -> Answer {
    let rows: Vec<Value> = mounts()?
        .iter()
        .map(|mount| {
            json!({
                "{#FSNAME}": mount.name,
                "{#FSTYPE}": mount.fs_type,
                "{#FSOPTIONS}": mount.options,
            })
        })
        .collect();
    Ok(json!(rows).to_string())
}

pub(super) fn get(_: &Agent, params: &Params) -> Answer {
    let rows: Vec<String> = mounts()?
        .iter()
        .filter_map(|mount| {
            params.deadline().check().ok()?;
            let space = fs_space(Path::new(&mount.name)).ok()?;
            let text = |text: &str| Value::from(text).to_string();
            Some(format!(
                "{{\"fsname\":{},\"fstype\":{},\"bytes\":{},\"inodes\":{},\"options\":{}}}",
                text(&mount.name),
                text(&mount.fs_type),
                Figures::bytes(&space).json(),
                Figures::inodes(&space).json(),
                text(&mount.options),
            ))
        })
        .collect();
    params.deadline().check()?;
    Ok(format!("[{}]", rows.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read() {
        let text = "/dev/vda / ext4 rw,relatime 0 0\nx /mnt/a\\040b\\134 tmpfs ro 0 0\nbad\n";
        let mounts = parse_mounts(text);
        let names: Vec<&str> = mounts.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["/", "/mnt/a b\\"]);
        assert_eq!(
            (mounts[0].fs_type.as_str(), mounts[0].options.as_str()),
            ("ext4", "rw,relatime")
        );
        assert_eq!(unescape("a\\04"), "a\\04");
        assert_eq!(unescape("\\999é\\"), "\\999é\\");
    }

    #[test]
    fn percentages_leave_out_what_root_keeps() {
        let space = FsSpace {
            total: 1000,
            available: 300,
            free: 400,
            inodes_total: 200,
            inodes_free: 50,
            inodes_available: 50,
        };
        let bytes = Figures::bytes(&space);
        assert_eq!((bytes.total, bytes.free, bytes.used), (1000, 300, 600));
        assert!((bytes.pfree - 100.0 / 3.0).abs() < 1e-9);
        assert!((bytes.pfree + bytes.pused - 100.0).abs() < 1e-9);
        let inodes = Figures::inodes(&space);
        assert_eq!((inodes.total, inodes.free, inodes.used), (200, 50, 150));
        assert!((inodes.pfree - 25.0).abs() < 1e-9);
        let empty = FsSpace::default();
        assert!(Figures::bytes(&empty).pfree.abs() < 1e-9);
        assert!((Figures::inodes(&empty).pfree - 100.0).abs() < 1e-9);
    }
}
