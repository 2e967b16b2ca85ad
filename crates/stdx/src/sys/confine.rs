//! Giving up rights, and opening files without following links that lead around permissions.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The effective user id of this process.
pub fn user_id() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Becomes another user for good, with these supplementary groups. Only root may do so, and before
/// the process has threads.
pub fn become_user(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of a slice, which the call only reads.
    check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    // SAFETY: takes numbers only.
    check(unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: takes numbers only.
    check(unsafe { libc::setresuid(uid, uid, uid) })
}

/// Gives up all capabilities of the calling thread, and those that programs with a set-user-id
/// bit would bring.
pub fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    /// `_LINUX_CAPABILITY_VERSION_3`: sets of 64 bits, given as two halves of three members.
    const VERSION: u32 = 0x2008_0522;
    let header = Header { version: VERSION, pid: 0 };
    let sets = [0_u32; 6];
    // SAFETY: the call changes a flag of this process and takes no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: header and sets are laid out as capset(2) describes for this version.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Names the process as `ps` and `top` show it; 15 bytes at most.
pub fn name_process(name: &std::ffi::CStr) {
    // SAFETY: the name ends with NUL; the call copies it. A failure costs only the name.
    let _ignored = unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0) };
}

/// Finds a file without opening it: the descriptor says what the file is (fstat) and where it is
/// (`/proc/self/fd`), and devices notice nothing. Links of procfs that lead to files of other
/// processes (`/proc/PID/root`, `cwd`, `exe`, `fd/N`; so `/dev/fd/N`, too) are refused where the kernel
/// can do that (Linux 5.6).
pub fn find_file(path: &Path, follow: bool) -> io::Result<OwnedFd> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "path contains a NUL byte"))?;
    let flags = libc::O_PATH | libc::O_CLOEXEC | if follow { 0 } else { libc::O_NOFOLLOW };
    // SAFETY: all members are integers, for which zero is a value.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = u64::from(flags.cast_unsigned());
    how.resolve = libc::RESOLVE_NO_MAGICLINKS;
    // SAFETY: the path ends with NUL, `how` is valid and its size is given.
    let found = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    if let Ok(found) = libc::c_int::try_from(found)
        && found >= 0
    {
        // SAFETY: the call returned a new descriptor that nothing else owns.
        return Ok(unsafe { OwnedFd::from_raw_fd(found) });
    }
    let error = io::Error::last_os_error();
    // Older kernels do not know the call; sandboxes of that time answer EPERM to unknown calls.
    if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) {
        return Err(error);
    }
    // SAFETY: the path ends with NUL.
    let found = unsafe { libc::open(path.as_ptr(), flags) };
    check(found)?;
    // SAFETY: the call returned a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(found) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn found_files_know_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let real = |fd: &OwnedFd| std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        let canonical = file.canonicalize().unwrap();
        assert_eq!(real(&find_file(&link, true).unwrap()).unwrap(), canonical);
        assert!(real(&find_file(&link, false).unwrap()).unwrap().ends_with("link"));
        let missing = find_file(&folder.path().join("nope"), true).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn links_into_other_processes_are_refused() {
        let open = std::fs::File::open("/etc/passwd").unwrap();
        let number = open.as_raw_fd();
        for path in [
            "/proc/self/root/etc/passwd".to_owned(),
            "/proc/self/cwd/Cargo.toml".to_owned(),
            format!("/proc/self/fd/{number}"),
            format!("/dev/fd/{number}"),
        ] {
            let error = find_file(Path::new(&path), true).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ELOOP), "{path}");
        }
        assert!(find_file(Path::new("/proc/self/status"), true).is_ok());
        assert!(find_file(Path::new("/proc/net/tcp"), true).is_ok());
    }
}
