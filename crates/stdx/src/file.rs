//! Small files that are replaced whole.

use std::io::Write;
use std::path::Path;

/// Writes a file beside the old one and puts it in its place. When it returns `Ok`, a power cut
/// leaves the new one; before that, the old or the new one, never a part.
pub fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let mut file = std::fs::File::create(&temporary)?;
    file.write_all(contents)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_file_takes_the_place_of_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.b");
        for text in ["one", "", "three"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        assert!(replace(&dir.path().join("no/such/folder"), b"").is_err());
    }
}
