//! The data folder: access for its owner alone, one server at a time, and whether the last one ended
//! in order.

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Permission bits of groups and others. The data folder holds passwords, keys and session digests.
pub(crate) const OTHERS: u32 = 0o077;

/// Creates the data folder if it is missing, and removes the access of groups and others from
/// everything in it: earlier versions, backups and administrators may have left files readable.
pub(crate) fn prepare(data: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o777 & !OTHERS)
        .create(data)
        .with_context(|| format!("cannot create the data folder {}", data.display()))?;
    let meta = std::fs::metadata(data)
        .with_context(|| format!("cannot read the data folder {}", data.display()))?;
    let mut repair = Repair::default();
    repair.entry(data, &meta);
    if repair.changed > 0 {
        tracing::warn!(
            files = repair.changed,
            "the data folder was accessible to other users of this machine; removed their access. \
             Change passwords and keys if other users had accounts here"
        );
    }
    if let Some((path, error)) = repair.failed {
        tracing::warn!(
            path = %path.display(), %error,
            "cannot remove the access of other users from the data folder: run \
             `chmod -R go= {}` as its owner", data.display()
        );
    }
    Ok(())
}

#[derive(Default)]
struct Repair {
    changed: usize,
    failed: Option<(PathBuf, std::io::Error)>,
}

impl Repair {
    /// Links are not followed: what they point to belongs to somebody else.
    fn entry(&mut self, path: &Path, meta: &Metadata) {
        let mode = meta.permissions().mode() & 0o7777;
        if mode & OTHERS != 0 {
            match std::fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
                Ok(()) => self.changed += 1,
                Err(error) => self.failed = Some((path.to_owned(), error)),
            }
        }
        if !meta.is_dir() {
            return;
        }
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.failed = Some((path.to_owned(), error));
                return;
            }
        };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_symlink() => {}
                Ok(meta) => self.entry(&entry.path(), &meta),
                // Removed meanwhile.
                Err(_) => {}
            }
        }
    }
}

/// Two servers on one folder would destroy each other's history.
pub(crate) fn lock(data: &Path) -> anyhow::Result<File> {
    let path = data.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        bail!(
            "{} is in use by another vedette server: stop it, or choose another --data",
            data.display()
        );
    }
    Ok(file)
}

/// Present while the server runs; found at the start, the process before did not end in order.
pub(crate) struct RunningMark(PathBuf);

/// Contents of the mark once the configuration database is open. Earlier versions leave it empty and
/// delete the database's log also where a start fails.
const OPENED: &str = "configuration opened\n";

/// How the last run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastRun {
    /// Its mark is still there.
    pub(crate) crashed: bool,
    /// It crashed with the configuration database open, whose log has to be there.
    pub(crate) opened: bool,
}

impl RunningMark {
    /// Leaves the mark, and returns what the last run left.
    pub(crate) fn set(data: &Path) -> anyhow::Result<(Self, LastRun)> {
        let path = data.join("running");
        let crashed = path.exists();
        let opened = std::fs::read(&path).is_ok_and(|mark| mark == OPENED.as_bytes());
        if !opened {
            std::fs::write(&path, "")
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok((Self(path), LastRun { crashed, opened }))
    }

    /// The configuration database is open.
    pub(crate) fn opened(&self) -> anyhow::Result<()> {
        std::fs::write(&self.0, OPENED)
            .with_context(|| format!("cannot write {}", self.0.display()))
    }

    /// The server ends in order.
    pub(crate) fn clear(self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!(%error, "cannot remove the file that marks a running server; the next start checks history");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn mark_tells_whether_a_crashed_run_opened_the_database() {
        let dir = tempfile::tempdir().unwrap();
        let set = || RunningMark::set(dir.path()).unwrap();
        let left = |crashed, opened| LastRun { crashed, opened };
        assert_eq!(set().1, left(false, false), "first start");
        let (mark, last) = set();
        assert_eq!(last, left(true, false), "failed before the database was open");
        mark.opened().unwrap();
        assert_eq!(set().1, left(true, true));
        assert_eq!(set().1, left(true, true), "a start that fails early does not hide the crash");
        set().0.clear();
        assert_eq!(set().1, left(false, false), "ended in order");
        std::fs::write(dir.path().join("running"), "").unwrap();
        assert_eq!(set().1, left(true, false), "an earlier version left the mark");
    }

    #[test]
    fn prepare_removes_access_of_other_users() {
        let root = tempfile::tempdir().unwrap();
        let data = root.path().join("new/var");
        prepare(&data).unwrap();
        assert_eq!(mode(&data), 0o700, "a new folder");

        let outside = root.path().join("outside");
        std::fs::create_dir_all(data.join("history/0")).unwrap();
        for (name, mode) in [
            ("config.db", 0o644),
            ("history/0/segment", 0o664),
            ("script.sh", 0o755),
            ("read-only", 0o444),
        ] {
            std::fs::write(data.join(name), "secret").unwrap();
            std::fs::set_permissions(data.join(name), Permissions::from_mode(mode)).unwrap();
        }
        std::fs::write(&outside, "").unwrap();
        std::fs::set_permissions(&outside, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&outside, data.join("link")).unwrap();
        for folder in ["", "history", "history/0"] {
            std::fs::set_permissions(data.join(folder), Permissions::from_mode(0o755)).unwrap();
        }
        prepare(&data).unwrap();
        for (name, expected) in [
            ("", 0o700),
            ("history", 0o700),
            ("history/0", 0o700),
            ("config.db", 0o600),
            ("history/0/segment", 0o600),
            ("script.sh", 0o700),
            ("read-only", 0o400),
        ] {
            assert_eq!(mode(&data.join(name)), expected, "{name}");
        }
        assert_eq!(mode(&outside), 0o644, "the target of a link");
    }
}
