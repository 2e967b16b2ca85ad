//! A file that is renamed when it is large.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Appends lines to a file up to a size. Then the file gets the ending `.old`, in the place of the one before.
#[derive(Debug)]
pub(super) struct RotatingFile {
    path: PathBuf,
    bytes_max: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Bytes of whole lines in it.
    bytes: u64,
    /// The file's number in its file system.
    number: u64,
}

impl RotatingFile {
    pub(super) fn new(path: PathBuf, bytes_max: u64) -> Self {
        Self { path, bytes_max, open: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes whole lines, and takes from `rest` what is written. A line that could not be written as a whole is
    /// removed again. A file that another program has moved away or removed is made again.
    pub(super) fn write(&mut self, rest: &mut &str) -> io::Result<()> {
        let is_same =
            |open: &Open| fs::metadata(&self.path).is_ok_and(|now| now.ino() == open.number);
        let mut open = match self.open.take().filter(is_same) {
            Some(open) => open,
            None => Open::at(&self.path)?,
        };
        while !rest.is_empty() {
            let room = self.bytes_max.saturating_sub(open.bytes);
            let (mut lines, mut after) = split(rest, room);
            if lines.is_empty() {
                if open.bytes > 0 {
                    drop(open);
                    fs::rename(&self.path, old(&self.path))?;
                    open = Open::at(&self.path)?;
                    continue;
                }
                // A line longer than a file has a file for itself.
                (lines, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
            }
            open.append(lines)?;
            *rest = after;
        }
        self.open = Some(open);
        Ok(())
    }
}

impl Open {
    fn at(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let metadata = file.metadata()?;
        let mut open = Self { bytes: metadata.len(), number: metadata.ino(), file };
        if open.bytes > 0 {
            // A crash may have left a part of a line.
            let mut last = [0];
            open.file.seek(SeekFrom::End(-1))?;
            open.file.read_exact(&mut last)?;
            if last != *b"\n" {
                open.append("\n")?;
            }
        }
        Ok(open)
    }

    fn append(&mut self, lines: &str) -> io::Result<()> {
        if let Err(error) = self.file.write_all(lines.as_bytes()) {
            self.file.set_len(self.bytes)?;
            return Err(error);
        }
        self.bytes += u64::try_from(lines.len()).unwrap_or(u64::MAX);
        Ok(())
    }
}

/// The whole lines that fit, and the others.
fn split(text: &str, room: u64) -> (&str, &str) {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if text.len() <= room {
        return (text, "");
    }
    let fits = text.as_bytes().get(..room).unwrap_or_default();
    let end = fits.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    text.split_at(end)
}

fn old(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(file: &mut RotatingFile, lines: &str) {
        let mut rest = lines;
        file.write(&mut rest).unwrap();
        assert_eq!(rest, "");
    }

    fn read(path: &Path) -> [String; 2] {
        [path.to_owned(), old(path)].map(|path| fs::read_to_string(path).unwrap_or_default())
    }

    #[test]
    fn a_large_file_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.ndjson");
        let mut file = RotatingFile::new(path.clone(), 6);
        written(&mut file, "aa\nbb\n");
        assert_eq!(read(&path), ["aa\nbb\n", ""]);
        written(&mut file, "cc\ndd\nee\n");
        assert_eq!(read(&path), ["ee\n", "cc\ndd\n"]);
        written(&mut file, "longer than a file\nf\n");
        assert_eq!(read(&path), ["f\n", "longer than a file\n"]);
        // A start continues the file.
        let mut file = RotatingFile::new(path.clone(), 6);
        written(&mut file, "gg\n");
        written(&mut file, "hh\n");
        assert_eq!(read(&path), ["hh\n", "f\ngg\n"]);
    }

    #[test]
    fn a_removed_file_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.ndjson");
        let mut file = RotatingFile::new(path.clone(), 100);
        written(&mut file, "a\n");
        fs::remove_file(&path).unwrap();
        written(&mut file, "b\n");
        assert_eq!(read(&path), ["b\n", ""]);
    }

    #[test]
    fn a_part_of_a_line_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.ndjson");
        fs::write(&path, "a\n{\"part").unwrap();
        written(&mut RotatingFile::new(path.clone(), 100), "b\n");
        assert_eq!(read(&path), ["a\n{\"part\nb\n", ""]);
    }
}
