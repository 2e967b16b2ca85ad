//! Users of this machine: who is logged in, names and ids.

use super::{Answer, Params, read_text};
use crate::Agent;

const UTMP: &str = "/var/run/utmp";
/// Size of a record, and the places of its type and user name (utmp(5), 64-bit Linux).
const RECORD_BYTES: usize = 384;
const USER_AT: usize = 44;
const USER_PROCESS: u16 = 7;

pub(super) fn num(_: &Agent, _: &Params) -> Answer {
    // No file: nobody can be logged in.
    let bytes = std::fs::read(UTMP).unwrap_or_default();
    Ok(logged_in(&bytes).to_string())
}

fn logged_in(utmp: &[u8]) -> usize {
    utmp.chunks_exact(RECORD_BYTES)
        .filter(|record| {
            u16::from_ne_bytes([record[0], record[1]]) == USER_PROCESS && record[USER_AT] != 0
        })
        .count()
}

/// The line of `/etc/passwd` or `/etc/group` whose field at `at` is `value`, another field of it.
fn look_up(text: &str, at: usize, value: &str, wanted: usize) -> Option<String> {
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (*fields.get(at)? == value).then(|| fields.get(wanted).map(|field| (*field).to_owned()))?
    })
}

/// Id of a user.
pub(super) fn uid(name: &str) -> Option<u32> {
    look_up(&read_text("/etc/passwd").ok()?, 0, name, 2)?.parse().ok()
}

/// Name of a user; the id where there is none.
pub(super) fn user_name(uid: u32) -> String {
    name("/etc/passwd", uid)
}

/// Name of a group; the id where there is none.
pub(super) fn group_name(gid: u32) -> String {
    name("/etc/group", gid)
}

fn name(path: &str, id: u32) -> String {
    let id = id.to_string();
    let text = read_text(path).unwrap_or_default();
    look_up(&text, 2, &id, 0).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_looked_up() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbad\nweb:x:33:33::/:/x\n";
        assert_eq!(look_up(passwd, 0, "web", 2).as_deref(), Some("33"));
        assert_eq!(look_up(passwd, 2, "0", 0).as_deref(), Some("root"));
        assert_eq!(look_up(passwd, 0, "nobody", 2), None);
    }

    #[test]
    fn logins_are_counted() {
        let record = |kind: u16, user: &[u8]| {
            let mut record = vec![0; RECORD_BYTES];
            record[..2].copy_from_slice(&kind.to_ne_bytes());
            record[USER_AT..USER_AT + user.len()].copy_from_slice(user);
            record
        };
        let mut file = record(USER_PROCESS, b"ann");
        file.extend(record(USER_PROCESS, b""));
        file.extend(record(8, b"bob"));
        file.extend(record(USER_PROCESS, b"carl"));
        assert_eq!(logged_in(&file), 2);
        assert_eq!(logged_in(&file[..RECORD_BYTES + 5]), 1);
        assert_eq!(logged_in(&[]), 0);
    }
}
