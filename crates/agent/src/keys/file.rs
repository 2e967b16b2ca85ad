//! `vfs.file.*`: one file.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Params, system_error, users};
use crate::Agent;

/// Largest file whose contents are told.
const CONTENTS_BYTES_MAX: usize = 16 << 20;
/// Longest line that is searched.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Bytes read at once.
const CHUNK_BYTES: usize = 64 << 10;

fn no_information(error: &std::io::Error) -> String {
    format!("Cannot obtain file information: {}", system_error(error))
}

fn metadata(agent: &Agent, params: &Params) -> Result<Metadata, String> {
    let found = agent.config().keys.files.find(params.path(0)?, true);
    found.map(|found| found.metadata().clone()).map_err(|error| no_information(&error))
}

fn open(agent: &Agent, params: &Params) -> Result<File, String> {
    let found = agent.config().keys.files.find(params.path(0)?, true);
    found
        .and_then(|found| found.open())
        .map_err(|error| format!("Cannot open file: {}", system_error(&error)))
}

/// Reads a file to its end, piece by piece, while there is time.
fn each_chunk(
    agent: &Agent,
    params: &Params,
    take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    read_chunks(agent, params, |_| "Cannot read from file.".to_owned(), take)
}

/// The same with a text for errors of reading, which differs between keys.
fn read_chunks(
    agent: &Agent,
    params: &Params,
    unreadable: impl Fn(&std::io::Error) -> String,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut file = BufReader::with_capacity(CHUNK_BYTES, open(agent, params)?);
    loop {
        params.deadline().check()?;
        let chunk = file.fill_buf().map_err(|error| unreadable(&error))?;
        if chunk.is_empty() {
            return Ok(());
        }
        take(chunk)?;
        let n = chunk.len();
        file.consume(n);
    }
}

/// Kind of a file as parameters and JSON name it.
pub(super) fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "dir"
    } else if kind.is_symlink() {
        "sym"
    } else if kind.is_socket() {
        "sock"
    } else if kind.is_block_device() {
        "bdev"
    } else if kind.is_char_device() {
        "cdev"
    } else {
        "fifo"
    }
}

const KINDS: [&str; 7] = ["file", "dir", "sym", "sock", "bdev", "cdev", "fifo"];

/// A list of kinds in a parameter; empty = `default`.
pub(super) fn parse_kinds(
    text: &str,
    default: &[&'static str],
) -> Result<Vec<&'static str>, String> {
    if text.is_empty() {
        return Ok(default.to_vec());
    }
    let mut found = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word {
            "all" => found.extend(KINDS),
            "dev" => found.extend(["bdev", "cdev"]),
            word => match KINDS.iter().find(|kind| **kind == word) {
                Some(kind) => found.push(kind),
                None => return Err(format!("Invalid type \"{word}\".")),
            },
        }
    }
    Ok(found)
}

pub(super) fn exists(agent: &Agent, params: &Params) -> Answer {
    let path = params.path(0)?;
    let default: &[&str] = if params.get(2).is_empty() { &["file"] } else { &KINDS };
    let wanted = parse_kinds(params.get(1), default)?;
    let excluded = parse_kinds(params.get(2), &[])?;
    // A symbolic link is one itself and what it points at.
    let files = &agent.config().keys.files;
    let found: Vec<&str> = [files.find(path, false), files.find(path, true)]
        .iter()
        .filter_map(|found| found.as_ref().ok().map(|found| kind(found.metadata())))
        .collect();
    let exists = found.iter().any(|kind| wanted.contains(kind))
        && !found.iter().any(|kind| excluded.contains(kind));
    Ok(u8::from(exists).to_string())
}

pub(super) fn contents(agent: &Agent, params: &Params) -> Answer {
    let mut bytes = Vec::new();
    each_chunk(agent, params, |chunk| {
        if bytes.len() + chunk.len() > CONTENTS_BYTES_MAX {
            return Err("File is too large for this check.".into());
        }
        bytes.extend_from_slice(chunk);
        Ok(())
    })?;
    let text = decode(&bytes, params.get(1))?;
    // A NUL byte ends a text for everybody down the line.
    let text = text.split('\0').next().unwrap_or_default();
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Text of a file: by its byte order mark if no encoding is named.
fn decode(bytes: &[u8], encoding: &str) -> Answer {
    let wide = |bytes: &[u8], big: bool| {
        let units = bytes.chunks_exact(2).map(|pair| {
            if big {
                u16::from_be_bytes([pair[0], pair[1]])
            } else {
                u16::from_le_bytes([pair[0], pair[1]])
            }
        });
        let text: String =
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        text.trim_start_matches('\u{feff}').to_owned()
    };
    let plain = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_start_matches('\u{feff}').to_owned()
    };
    match (encoding.to_ascii_uppercase().as_str(), bytes) {
        ("", [0xff, 0xfe, ..]) | ("UTF-16LE" | "UCS-2LE", _) => Ok(wide(bytes, false)),
        ("", [0xfe, 0xff, ..]) | ("UTF-16BE" | "UCS-2BE", _) => Ok(wide(bytes, true)),
        ("UTF-16" | "UCS-2", [0xfe, 0xff, ..]) => Ok(wide(bytes, true)),
        ("UTF-16" | "UCS-2", _) => Ok(wide(bytes, false)),
        ("ISO-8859-1" | "ISO8859-1" | "LATIN1", _) => {
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
        ("" | "UTF-8" | "UTF8" | "ASCII" | "US-ASCII", _) => Ok(plain(bytes)),
        _ => Err(format!("Encoding \"{encoding}\" is not supported by this agent.")),
    }
}

pub(super) fn size(agent: &Agent, params: &Params) -> Answer {
    let lines = params.choose(1, &[("bytes", false), ("lines", true)])?;
    if !lines {
        return Ok(metadata(agent, params)?.len().to_string());
    }
    let mut count = 0_usize;
    let unreadable = |error: &_| format!("Cannot read from file: {}", system_error(error));
    read_chunks(agent, params, unreadable, |chunk| {
        count += chunk.iter().filter(|byte| **byte == b'\n').count();
        Ok(())
    })?;
    Ok(count.to_string())
}

pub(super) fn time(agent: &Agent, params: &Params) -> Answer {
    let kind = params.choose(1, &[("modify", 'm'), ("access", 'a'), ("change", 'c')])?;
    let metadata = metadata(agent, params)?;
    Ok(match kind {
        'm' => metadata.mtime(),
        'a' => metadata.atime(),
        _ => metadata.ctime(),
    }
    .to_string())
}

pub(super) fn cksum(agent: &Agent, params: &Params) -> Answer {
    match params.choose(1, &[("crc32", 'c'), ("md5", 'm'), ("sha256", 's')])? {
        'm' => digest::<md5::Md5>(agent, params),
        's' => digest::<sha2::Sha256>(agent, params),
        _ => {
            let mut crc = Crc::default();
            each_chunk(agent, params, |chunk| {
                crc.update(chunk);
                Ok(())
            })?;
            Ok(crc.finish().to_string())
        }
    }
}

pub(super) fn md5sum(agent: &Agent, params: &Params) -> Answer {
    digest::<md5::Md5>(agent, params)
}

fn digest<D: md5::Digest>(agent: &Agent, params: &Params) -> Answer {
    let mut digest = D::new();
    each_chunk(agent, params, |chunk| {
        digest.update(chunk);
        Ok(())
    })?;
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The checksum of cksum(1) in POSIX: polynomial 0x04c11db7, most significant bit first, followed
/// by the length, inverted.
#[derive(Default)]
struct Crc {
    crc: u32,
    bytes: u64,
}

impl Crc {
    fn update(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        chunk.iter().for_each(|byte| self.push(*byte));
    }

    fn push(&mut self, byte: u8) {
        const TABLE: [u32; 256] = crc_table();
        let index = usize::from((self.crc >> 24) as u8 ^ byte);
        self.crc = self.crc << 8 ^ TABLE[index];
    }

    fn finish(mut self) -> u32 {
        let mut rest = self.bytes;
        while rest > 0 {
            self.push((rest & 0xff) as u8);
            rest >>= 8;
        }
        !self.crc
    }
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000_0000 == 0 { crc << 1 } else { crc << 1 ^ 0x04c1_1db7 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

pub(super) fn owner(agent: &Agent, params: &Params) -> Answer {
    let user = params.choose(1, &[("user", true), ("group", false)])?;
    let name = params.choose(2, &[("name", true), ("id", false)])?;
    let metadata = metadata(agent, params)?;
    Ok(match (user, name) {
        (true, true) => users::user_name(metadata.uid()),
        (false, true) => users::group_name(metadata.gid()),
        (true, false) => metadata.uid().to_string(),
        (false, false) => metadata.gid().to_string(),
    })
}

pub(super) fn permissions(agent: &Agent, params: &Params) -> Answer {
    Ok(mode(&metadata(agent, params)?))
}

fn mode(metadata: &Metadata) -> String {
    format!("{:04o}", metadata.permissions().mode() & 0o7777)
}

/// All about a file, links not followed.
pub(super) fn get(agent: &Agent, params: &Params) -> Answer {
    let path = params.path(0)?;
    let found =
        agent.config().keys.files.find(path, false).map_err(|error| no_information(&error))?;
    Ok(describe(path, found.metadata()).to_string())
}

fn describe(path: &Path, metadata: &Metadata) -> Value {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let zone = jiff::tz::TimeZone::system();
    let time = |seconds: i64| {
        let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
        time.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%z").to_string()
    };
    let (access, modify, change) = (metadata.atime(), metadata.mtime(), metadata.ctime());
    json!({
        "basename": text(path.file_name()),
        "pathname": path.to_string_lossy(),
        "dirname": text(path.parent().map(Path::as_os_str)),
        "type": kind(metadata),
        "user": users::user_name(metadata.uid()),
        "group": users::group_name(metadata.gid()),
        "permissions": mode(metadata),
        "uid": metadata.uid(),
        "gid": metadata.gid(),
        "size": metadata.len(),
        "time": { "access": time(access), "modify": time(modify), "change": time(change) },
        "timestamp": { "access": access, "modify": modify, "change": change },
    })
}

/// Lines between two line numbers, by the file's encoding; `found` ends the search.
fn search(
    agent: &Agent,
    params: &Params,
    mut found: impl FnMut(&str) -> Result<Option<String>, String>,
) -> Result<Option<String>, String> {
    params.required(1)?;
    params.regex(1)?;
    let line_number = |index: usize, default: u64| match params.get(index) {
        "" => Ok(default),
        text => {
            text.parse::<u64>().ok().filter(|n| *n > 0).map_or_else(|| Params::invalid(index), Ok)
        }
    };
    let (first, last) = (line_number(3, 1)?, line_number(4, u64::MAX)?);
    if first > last {
        return Err("Start line parameter must not exceed end line.".into());
    }
    let mut file = BufReader::new(open(agent, params)?);
    let mut number = 0;
    let mut line = Vec::new();
    while number < last {
        params.deadline().check()?;
        line.clear();
        let n = (&mut file)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("Cannot read from file: {}", system_error(&error)))?;
        if n == 0 {
            return Ok(None);
        }
        number += 1;
        if number < first {
            continue;
        }
        let text = decode(&line, params.get(2))?;
        if let Some(answer) = found(text.trim_end_matches(['\r', '\n']))? {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// The first line that matches, or what the output template makes of it; empty if none does.
pub(super) fn regexp(agent: &Agent, params: &Params) -> Answer {
    let (pattern, template) = (params.get(1), params.get(5));
    let found = search(agent, params, |line| {
        if template.is_empty() {
            let matched = eval::regex::is_match(pattern, line, false).map_err(|e| e.to_string())?;
            return Ok(matched.then(|| line.to_owned()));
        }
        eval::regex::substitute(pattern, template, line, false).map_err(|e| e.to_string())
    })?;
    Ok(found.unwrap_or_default())
}

/// 1 if a line matches.
pub(super) fn regmatch(agent: &Agent, params: &Params) -> Answer {
    let pattern = params.get(1);
    let found = search(agent, params, |line| {
        let matched = eval::regex::is_match(pattern, line, false).map_err(|e| e.to_string())?;
        Ok(matched.then(String::new))
    })?;
    Ok(u8::from(found.is_some()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_cksum() {
        for (text, expected) in
            [("", 4_294_967_295_u32), ("a", 1_220_704_766), ("hello world\n", 3_733_384_285)]
        {
            let mut crc = Crc::default();
            crc.update(text.as_bytes());
            assert_eq!(crc.finish(), expected, "{text:?}");
        }
    }

    #[test]
    fn encodings_are_found() {
        for (bytes, encoding, expected) in [
            (&b"a\xc3\xa9"[..], "", Some("aé")),
            (b"\xef\xbb\xbfa", "", Some("a")),
            (b"\xff\xfea\0", "", Some("a")),
            (b"\xfe\xff\0a", "", Some("a")),
            (b"a\0b\0", "UTF-16LE", Some("ab")),
            (b"\0a", "utf-16be", Some("a")),
            (b"\xe9", "ISO-8859-1", Some("é")),
            (b"\xe9", "", Some("\u{fffd}")),
            (b"x", "EBCDIC", None),
        ] {
            assert_eq!(decode(bytes, encoding).ok().as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn kinds_are_parsed() {
        assert_eq!(parse_kinds("", &["file"]), Ok(vec!["file"]));
        assert_eq!(parse_kinds("dir, dev", &[]), Ok(vec!["dir", "bdev", "cdev"]));
        assert_eq!(parse_kinds("all", &[]).map(|kinds| kinds.len()), Ok(7));
        assert_eq!(parse_kinds("any", &[]), Err("Invalid type \"any\".".into()));
    }
}
