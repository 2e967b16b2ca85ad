//! `kernel.*`: limits of the kernel.

use super::{Answer, Params, read_text};
use crate::Agent;

/// The first number of a file.
fn first(path: &str) -> Answer {
    let text = read_text(path)?;
    let number = text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    number.map(|n| n.to_string()).ok_or_else(|| format!("Cannot obtain data from {path}."))
}

pub(super) fn maxfiles(_: &Agent, _: &Params) -> Answer {
    first("/proc/sys/fs/file-max")
}

pub(super) fn maxproc(_: &Agent, _: &Params) -> Answer {
    first("/proc/sys/kernel/pid_max")
}

pub(super) fn openfiles(_: &Agent, _: &Params) -> Answer {
    first("/proc/sys/fs/file-nr")
}
