//! Which files the agent reads. Anyone who reaches its port, and any user who may create items,
//! reads through it, so an agent that shares a user with other programs must not show what only
//! that user may see.

use std::fs::{File, Metadata, ReadDir};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use stdx::sys::confine::find_file;

/// "Permission denied": what the system itself would answer to another user.
const EACCES: i32 = 13;
/// "No such device or address".
const ENXIO: i32 = 6;
/// Permission bits of others: read, enter.
const READ: u32 = 0o4;
const ENTER: u32 = 0o1;

/// What the agent does not read, beyond what the system refuses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileGuard {
    /// Files and folders that are refused with all that is in them, whatever path leads there.
    pub protected: Vec<PathBuf>,
    /// A user whose files are read only if everyone may read them: the user that the agent
    /// shares with a server. Access by group counts as the system has it.
    pub private_of: Option<u32>,
}

/// A file that may be looked at, found but not opened.
pub(crate) struct Found<'a> {
    guard: &'a FileGuard,
    file: File,
    metadata: Metadata,
}

impl FileGuard {
    /// Finds a file, or the link itself. The decision is about the file that was found, so changing
    /// a link meanwhile does not help.
    pub(crate) fn find(&self, path: &Path, follow: bool) -> io::Result<Found<'_>> {
        let file = File::from(find_file(path, follow)?);
        let metadata = file.metadata()?;
        let found = Found { guard: self, file, metadata };
        if *self != Self::default() {
            self.check_place(&found)?;
        }
        Ok(found)
    }

    /// Looks at all folders on the real path: permissions of links do not count.
    fn check_place(&self, found: &Found<'_>) -> io::Result<()> {
        let real = std::fs::read_link(found.own_path())?;
        if !real.is_absolute() || self.is_protected(&found.metadata) {
            return Err(refused());
        }
        for folder in real.ancestors().skip(1) {
            let metadata = std::fs::symlink_metadata(folder)?;
            if self.is_protected(&metadata) || self.is_private(&metadata, ENTER) {
                return Err(refused());
            }
        }
        Ok(())
    }

    /// Compares identities, not names: a bind mount or a second name changes nothing, and a key
    /// file that is replaced stays protected.
    fn is_protected(&self, metadata: &Metadata) -> bool {
        self.protected.iter().any(|path| {
            std::fs::metadata(path)
                .is_ok_and(|one| (one.dev(), one.ino()) == (metadata.dev(), metadata.ino()))
        })
    }

    fn is_private(&self, metadata: &Metadata, needed: u32) -> bool {
        self.private_of == Some(metadata.uid()) && metadata.mode() & needed != needed
    }
}

impl Found<'_> {
    pub(crate) const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Opens it for reading. Pipes, sockets and devices are refused: reading them may take for
    /// ever, or change something.
    pub(crate) fn open(&self) -> io::Result<File> {
        let kind = self.metadata.file_type();
        if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
            return Err(io::Error::from_raw_os_error(ENXIO));
        }
        if self.guard.is_private(&self.metadata, READ) {
            return Err(refused());
        }
        File::open(self.own_path())
    }

    /// What is in the folder.
    pub(crate) fn entries(&self) -> io::Result<ReadDir> {
        if self.guard.is_private(&self.metadata, READ | ENTER) {
            return Err(refused());
        }
        std::fs::read_dir(self.own_path())
    }

    /// A path to exactly this file.
    fn own_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

fn refused() -> io::Error {
    io::Error::from_raw_os_error(EACCES)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn read(guard: &FileGuard, path: &Path) -> Result<String, Option<i32>> {
        let mut text = String::new();
        guard
            .find(path, true)
            .and_then(|found| found.open())
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|error| error.raw_os_error())?;
        Ok(text)
    }

    #[test]
    fn protected_files_are_refused_on_every_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("data/deep")).unwrap();
        for file in ["data/config.db", "data/deep/value", "key", "open"] {
            std::fs::write(at(file), "text").unwrap();
        }
        symlink(at("data"), at("link")).unwrap();
        symlink(at("key"), at("key-link")).unwrap();
        std::fs::hard_link(at("key"), at("second-name")).unwrap();
        // The protected path may be a link itself.
        let protected = vec![at("link"), at("key-link"), at("missing")];
        let guard = FileGuard { protected, private_of: None };
        for path in [
            "data/config.db",
            "data/deep/value",
            "data/deep/../config.db",
            "link/config.db",
            "key",
            "key-link",
            "second-name",
        ] {
            assert_eq!(read(&guard, &at(path)), Err(Some(EACCES)), "{path}");
        }
        assert_eq!(read(&guard, &at("open")), Ok("text".into()));
        assert!(guard.find(&at("data"), true).is_err());
        let below = guard.find(folder.path(), true).unwrap();
        assert!(below.entries().unwrap().flatten().count() > 3);
        assert!(guard.find(&at("data"), false).is_err());
        // A key that is replaced stays protected.
        std::fs::write(at("new"), "new").unwrap();
        std::fs::rename(at("new"), at("key")).unwrap();
        assert_eq!(read(&guard, &at("key")), Err(Some(EACCES)));
    }

    #[test]
    fn private_files_of_the_shared_user_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        set_mode(folder.path(), 0o755);
        std::fs::create_dir(at("closed")).unwrap();
        for (file, mode) in [("private", 0o640), ("public", 0o644), ("closed/public", 0o644)] {
            std::fs::write(at(file), "text").unwrap();
            set_mode(&at(file), mode);
        }
        set_mode(&at("closed"), 0o700);
        let own = stdx::sys::confine::user_id();
        let guard = FileGuard { protected: Vec::new(), private_of: Some(own) };
        let foreign = FileGuard { private_of: Some(own + 1), ..guard.clone() };
        for (path, expected) in [
            (at("public"), Ok("text".to_owned())),
            (at("private"), Err(Some(EACCES))),
            (at("closed/public"), Err(Some(EACCES))),
            (PathBuf::from("/proc/self/environ"), Err(Some(EACCES))),
        ] {
            assert_eq!(read(&guard, &path), expected, "{}", path.display());
            assert!(read(&foreign, &path).is_ok(), "{}", path.display());
        }
        assert!(read(&guard, Path::new("/proc/self/status")).is_ok());
        assert!(read(&guard, Path::new("/proc/net/dev")).is_ok());
        // Figures of a private file are public where its folder is.
        assert_eq!(guard.find(&at("private"), true).unwrap().metadata().len(), 4);
        assert!(guard.find(&at("closed"), true).unwrap().entries().is_err());
    }

    #[test]
    fn only_regular_files_and_folders_are_opened() {
        let guard = FileGuard::default();
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [Path::new("/dev/zero"), &socket, &pipe] {
            assert_eq!(read(&guard, path), Err(Some(ENXIO)), "{}", path.display());
        }
    }
}
