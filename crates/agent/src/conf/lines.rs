//! Lines of configuration files: `Name=Value`, comments, `Include`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ConfError;
use crate::rules::wildcard;

/// Files inside of files.
const DEPTH_MAX: usize = 10;
const FILE_BYTES_MAX: u64 = 1 << 20;
const LINES_MAX: usize = 100_000;
const INCLUDE: &str = "Include";

/// A parameter as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) value: String,
}

/// Where a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its path as `Include` or the caller has it.
    pub file: Arc<Path>,
    /// Line number from 1.
    pub number: usize,
}

/// Reads a file and all that it includes, in their order.
pub(super) fn read(path: &Path) -> Result<Vec<Line>, ConfError> {
    let mut lines = Vec::new();
    read_file(path, 0, &mut lines)?;
    Ok(lines)
}

fn read_file(path: &Path, depth: usize, lines: &mut Vec<Line>) -> Result<(), ConfError> {
    let cannot = |error| ConfError::Read { path: path.to_owned(), error };
    let file = std::fs::File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(cannot(std::io::Error::other("the file is larger than 1 MiB")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| cannot(std::io::Error::other("the file is not UTF-8 text")))?;
    let file: Arc<Path> = Arc::from(path);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = Place { file: Arc::clone(&file), number: at + 1 };
        let Some((name, value)) = line.split_once('=') else {
            let what = format!("\"{line}\" is not in the form Parameter=value");
            return Err(ConfError::Line { place, what });
        };
        let (name, value) = (name.trim_end().to_owned(), value.trim_start().to_owned());
        if name == INCLUDE {
            include(&place, &value, depth, lines)?;
            continue;
        }
        if lines.len() == LINES_MAX {
            let what = format!("there are more than {LINES_MAX} parameters");
            return Err(ConfError::Line { place, what });
        }
        lines.push(Line { place, name, value });
    }
    Ok(())
}

fn include(
    place: &Place,
    value: &str,
    depth: usize,
    lines: &mut Vec<Line>,
) -> Result<(), ConfError> {
    let wrong = |what: String| ConfError::Line { place: place.clone(), what };
    if depth == DEPTH_MAX {
        return Err(wrong(format!("files include each other more than {DEPTH_MAX} times")));
    }
    if value.is_empty() {
        return Err(wrong(String::from("Include requires a file or a folder")));
    }
    for file in files(value).map_err(|what| wrong(format!("Include={value}: {what}")))? {
        read_file(&file, depth + 1, lines)?;
    }
    Ok(())
}

/// The files of `Include`: one, all of a folder, or those whose name matches the last part of the path. In
/// alphabetical order.
fn files(value: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(value);
    let (folder, pattern) = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if name.to_string_lossy().contains('*') => {
            (folder, name.to_string_lossy().into_owned())
        }
        _ if path.is_dir() => (path, String::from("*")),
        _ => return Ok(vec![path.to_owned()]),
    };
    if folder.to_string_lossy().contains('*') {
        return Err(String::from("only the last part of the path may have *"));
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let matches = wildcard(&pattern, &entry.file_name().to_string_lossy());
        // A link counts as the file that it leads to.
        if matches && entry.path().is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Result<Vec<String>, String> {
        let lines = read(path).map_err(|error| error.to_string())?;
        let name =
            |line: &Line| line.place.file.file_name().unwrap().to_string_lossy().into_owned();
        let show = |l: &Line| format!("{}:{} {}={}", name(l), l.place.number, l.name, l.value);
        Ok(lines.iter().map(show).collect())
    }

    #[test]
    fn lines_and_included_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        std::fs::create_dir(folder.path().join("d")).unwrap();
        write("d/b.conf", "B=2\n");
        write("d/a.conf", "A=1");
        write("d/c.other", "C=3");
        let shown = folder.path().display();
        let text = format!(
            "# note\r\n\n  Name = a = b \r\n\t# note\nInclude={shown}/d/*.conf\nInclude={shown}/d/c.other\nEmpty=\nA=#x"
        );
        let main = write("main", &text);
        assert_eq!(
            lines(&main).unwrap(),
            [
                "main:3 Name=a = b",
                "a.conf:1 A=1",
                "b.conf:1 B=2",
                "c.other:1 C=3",
                "main:7 Empty=",
                "main:8 A=#x",
            ]
        );
        let whole = write("whole", &format!("Include={shown}/d"));
        assert_eq!(lines(&whole).unwrap(), ["a.conf:1 A=1", "b.conf:1 B=2", "c.other:1 C=3"]);
        let none = write("none", &format!("Include={shown}/d/*.none"));
        assert_eq!(lines(&none).unwrap(), [""; 0]);

        for (text, expected) in [
            ("A=1\nnonsense\n", "line 2: \"nonsense\" is not in the form Parameter=value"),
            ("Include=", "line 1: Include requires a file or a folder"),
            ("Include=/no/such/file", "cannot read /no/such/file"),
            ("Include=/no/such/*.conf", "line 1: Include=/no/such/*.conf: cannot read /no/such"),
            ("Include=/*/x.conf", "cannot read /*/x.conf"),
            ("Include=/*/*.conf", "only the last part of the path may have *"),
        ] {
            let error = lines(&write("wrong", text)).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let round = write("round", &format!("Include={shown}/round"));
        assert!(lines(&round).unwrap_err().contains("include each other"));
        std::fs::write(folder.path().join("bytes"), b"A=\xff").unwrap();
        assert!(lines(&folder.path().join("bytes")).unwrap_err().contains("not UTF-8"));
    }
}
