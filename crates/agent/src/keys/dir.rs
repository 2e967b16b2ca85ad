//! `vfs.dir.*`: what lies below a folder. Links are not followed.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Answer, Params, file, system_error};
use crate::Agent;
use crate::deadline::Deadline;
use crate::guard::FileGuard;

/// Most entries looked at: a tree of a million files takes seconds already.
const ENTRIES_MAX: usize = 5_000_000;

struct Walk<'a> {
    files: &'a FileGuard,
    deadline: &'a Deadline,
    include: &'a str,
    exclude: &'a str,
    exclude_dir: &'a str,
    depth_max: Option<usize>,
}

impl<'a> Walk<'a> {
    fn new(
        agent: &'a Agent,
        params: &'a Params,
        depth_at: usize,
        exclude_dir_at: usize,
    ) -> Result<Self, String> {
        let depth_max = match params.get(depth_at) {
            "" | "-1" => None,
            text => match text.parse() {
                Ok(depth) => Some(depth),
                Err(_) => return Params::invalid(depth_at),
            },
        };
        Ok(Self {
            files: &agent.config().keys.files,
            deadline: params.deadline(),
            include: params.regex(1)?,
            exclude: params.regex(2)?,
            exclude_dir: params.regex(exclude_dir_at)?,
            depth_max,
        })
    }

    fn wants(&self, name: &str) -> bool {
        let hits = |pattern: &str| eval::regex::is_match(pattern, name, false).unwrap_or(false);
        (self.include.is_empty() || hits(self.include))
            && (self.exclude.is_empty() || !hits(self.exclude))
    }

    fn skips(&self, dir_name: &str) -> bool {
        !self.exclude_dir.is_empty()
            && eval::regex::is_match(self.exclude_dir, dir_name, false).unwrap_or(false)
    }

    /// Calls `visit` for every entry below `root` whose name is wanted.
    fn run(&self, root: &Path, mut visit: impl FnMut(&Metadata)) -> Result<(), String> {
        let cannot = |error: &std::io::Error| {
            format!("Cannot obtain directory information: {}", system_error(error))
        };
        let mut folder = self.files.find(root, true).map_err(|error| cannot(&error))?;
        if !folder.metadata().is_dir() {
            return Err("First parameter is not a directory.".into());
        }
        let mut at = (root.to_owned(), 0);
        let mut stack: Vec<(PathBuf, usize)> = Vec::new();
        let mut seen = 0;
        loop {
            let (dir, depth) = &at;
            // A folder that may not be read counts, its contents do not.
            let entries = folder.entries().ok();
            for entry in entries.into_iter().flatten().flatten() {
                self.deadline.check()?;
                seen += 1;
                if seen > ENTRIES_MAX {
                    return Err(format!("More than {ENTRIES_MAX} files: narrow the folder."));
                }
                let Ok(metadata) = entry.metadata() else { continue };
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if metadata.is_dir() && self.skips(&name) {
                    continue;
                }
                if self.wants(&name) {
                    visit(&metadata);
                }
                if metadata.is_dir() && self.depth_max.is_none_or(|max| *depth < max) {
                    stack.push((dir.join(entry.file_name()), depth + 1));
                }
            }
            // A folder that is gone or protected is left out.
            let next = std::iter::from_fn(|| stack.pop())
                .find_map(|next| Some((self.files.find(&next.0, false).ok()?, next)));
            match next {
                Some((found, next)) => (folder, at) = (found, next),
                None => return Ok(()),
            }
        }
    }
}

pub(super) fn count(agent: &Agent, params: &Params) -> Answer {
    let root = Path::new(params.required(0)?);
    let walk = Walk::new(agent, params, 5, 10)?;
    let all = file::parse_kinds("all", &[])?;
    let wanted = file::parse_kinds(params.get(3), &all)?;
    let excluded = file::parse_kinds(params.get(4), &[])?;
    let size_min = suffixed(params, 6, 1024)?.unwrap_or(0);
    let size_max = suffixed(params, 7, 1024)?.unwrap_or(u64::MAX);
    let now = agent.clock().unix_s();
    let age_min = suffixed(params, 8, 0)?.unwrap_or(0);
    let age_max = suffixed(params, 9, 0)?.unwrap_or(u64::MAX);
    let mut count = 0_u64;
    walk.run(root, |metadata| {
        let kind = file::kind(metadata);
        let age = now.saturating_sub(u64::try_from(metadata.mtime()).unwrap_or(0));
        if wanted.contains(&kind)
            && !excluded.contains(&kind)
            && (size_min..=size_max).contains(&metadata.len())
            && (age_min..=age_max).contains(&age)
        {
            count += 1;
        }
    })?;
    Ok(count.to_string())
}

/// A number with K, M, G, T (powers of `base`), or with s, m, h, d, w if `base` is 0.
fn suffixed(params: &Params, index: usize, base: u64) -> Result<Option<u64>, String> {
    let text = params.get(index);
    let Some(last) = text.chars().next_back() else { return Ok(None) };
    let factor = match (last, base) {
        ('s', 0) => Some(1),
        ('m', 0) => Some(60),
        ('h', 0) => Some(3600),
        ('d', 0) => Some(86_400),
        ('w', 0) => Some(604_800),
        ('K', 1024) => Some(1 << 10),
        ('M', 1024) => Some(1 << 20),
        ('G', 1024) => Some(1 << 30),
        ('T', 1024) => Some(1 << 40),
        _ => None,
    };
    let digits = if factor.is_some() { &text[..text.len() - 1] } else { text };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(factor.unwrap_or(1)));
    number.map_or_else(|| Params::invalid(index), |number| Ok(Some(number)))
}

/// Sum of the sizes of files, links and folders; of files with several names once.
pub(super) fn size(agent: &Agent, params: &Params) -> Answer {
    let root = Path::new(params.required(0)?);
    let disk = params.choose(3, &[("apparent", false), ("disk", true)])?;
    let walk = Walk::new(agent, params, 4, 5)?;
    let size = |metadata: &Metadata| if disk { metadata.blocks() * 512 } else { metadata.len() };
    let mut linked = HashSet::new();
    let mut sum = 0_u64;
    // The folder itself counts as du(1) counts it.
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    if walk.wants(&name)
        && let Ok(found) = agent.config().keys.files.find(root, true)
    {
        sum += size(found.metadata());
    }
    walk.run(root, |metadata| {
        let counted = metadata.is_dir()
            || metadata.nlink() == 1
            || linked.insert((metadata.dev(), metadata.ino()));
        if counted && matches!(file::kind(metadata), "file" | "dir" | "sym") {
            sum = sum.saturating_add(size(metadata));
        }
    })?;
    Ok(sum.to_string())
}

#[cfg(test)]
mod tests {
    use eval::key::ItemKey;

    use super::*;

    fn far() -> Deadline {
        Deadline::after(std::time::Duration::MAX / 2, &stdx::clock::RealClock::shared())
    }

    #[test]
    fn suffixes_are_multiplied() {
        let params = Params::new(&ItemKey::parse("k[5K,2h,7,x,]").unwrap(), far());
        assert_eq!(suffixed(&params, 0, 1024), Ok(Some(5120)));
        assert_eq!(suffixed(&params, 1, 0), Ok(Some(7200)));
        assert_eq!(suffixed(&params, 2, 0), Ok(Some(7)));
        assert!(suffixed(&params, 3, 0).is_err());
        assert_eq!(suffixed(&params, 4, 0), Ok(None));
        assert!(suffixed(&params, 1, 1024).is_err());
    }
}
