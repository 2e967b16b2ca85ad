//! The folder of accounts and certificates. A file is replaced whole, and one that cannot be read is set
//! aside.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::de::DeserializeOwned;

use super::issued::Issued;
use super::schedule::Attempts;
use super::store::{Account, Standing, Store};
use super::wanted::{Authority, Wanted};

/// The first line of a certificate's file: who issued it.
const DIRECTORY: &str = "directory: ";
/// Bytes of the name of an account's file.
const NAME_MAX: usize = 150;

/// Reads the file of a certificate.
fn parse(text: &str) -> Result<Issued, String> {
    let (first, pem) = text.split_once('\n').unwrap_or_default();
    let directory = first
        .strip_prefix(DIRECTORY)
        .ok_or_else(|| format!("it does not begin with '{}'", DIRECTORY.trim_end()))?;
    Issued::new(directory, pem.to_owned())
}

/// Holds the folder for one process.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if it is missing.
    ///
    /// # Errors
    /// It cannot be used, or another engine uses it.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let problem = || format!("cannot use the folder {} of 'acme'", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(problem)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(path.join("lock")).with_context(problem)?;
        if lock.try_lock().is_err() {
            bail!("the folder {} of 'acme' is in use by another engine", path.display());
        }
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The stored certificate of this name.
    pub(super) fn certificate(&self, name: &str) -> Option<Issued> {
        self.read(&format!("{name}.pem"), parse, "a new certificate is ordered")
    }

    /// Reads a file; one that cannot be used is set aside. `consequence` is for the log.
    fn read<T>(
        &self,
        file: &str,
        parse: impl Fn(&str) -> Result<T, String>,
        consequence: &str,
    ) -> Option<T> {
        let path = self.path.join(file);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => Err(error.to_string()),
        };
        let problem = match text.and_then(|text| parse(&text)) {
            Ok(found) => return Some(found),
            Err(problem) => problem,
        };
        let aside = self.path.join(format!("{file}.damaged"));
        let moved = match std::fs::rename(&path, &aside) {
            Ok(()) => format!("it is now {}", aside.display()),
            Err(error) => format!("it cannot be renamed: {error}"),
        };
        let path = path.display();
        tracing::error!("the file {path} is damaged: {problem}; {consequence}; {moved}");
        None
    }

    fn write(&self, file: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(file);
        let problem = || format!("cannot write {}", path.display());
        // The engine's umask is that of a user with secrets; the folder is closed to others as well.
        stdx::file::replace(&path, text.as_bytes()).with_context(problem)
    }
}

impl Store for Folder {
    fn keep_certificate(
        &self,
        wanted: &Wanted,
        issued: &Issued,
        _requested_s: u64,
    ) -> anyhow::Result<()> {
        let text = format!("{DIRECTORY}{}\n{}", issued.directory, issued.pem());
        self.write(&format!("{}.pem", wanted.key), &text)
    }

    fn attempts(&self, wanted: &Wanted) -> anyhow::Result<Attempts> {
        let file = format!("{}.retry", wanted.key);
        Ok(self.read(&file, json, "attempts are counted from zero").unwrap_or_default())
    }

    fn keep_attempts(&self, wanted: &Wanted, attempts: &Attempts) -> anyhow::Result<()> {
        self.write(&format!("{}.retry", wanted.key), &serde_json::to_string(attempts)?)
    }

    fn account(&self, authority: &Authority) -> anyhow::Result<Option<Account>> {
        let directory = &authority.directory;
        let found = self.read(&account_file(directory), json, "a new account is created");
        // Two URLs may have the same file name.
        Ok(found.filter(|found: &Account| found.directory == *directory))
    }

    fn keep_account(&self, account: &Account) -> anyhow::Result<()> {
        self.write(&account_file(&account.directory), &serde_json::to_string(account)?)
    }

    /// The log shows it.
    fn show(&self, _wanted: &Wanted, _standing: &Standing) {}
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A file name that shows the URL.
fn account_file(directory: &str) -> String {
    let rest = directory.strip_prefix("https://").unwrap_or(directory);
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = rest.chars().take(NAME_MAX).map(safe).collect();
    format!("account-{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acme::issued::tests::{pem, wanted};

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("acme")).unwrap();
        (place, folder)
    }

    #[test]
    fn a_stored_certificate_is_read_again() {
        let (_place, folder) = folder();
        assert!(folder.certificate("www").is_none());
        let issued =
            Issued::new("https://ca/dir", pem(&["b.example.com", "A.example.com"])).unwrap();
        assert_eq!(issued.names, ["a.example.com", "b.example.com"]);
        folder.keep_certificate(&wanted("www"), &issued, 0).unwrap();
        let again = folder.certificate("www").unwrap();
        assert_eq!(again.directory, "https://ca/dir");
        assert_eq!(again.names, issued.names);
        assert_eq!(again.validity, issued.validity);
        assert_eq!(again.key.cert, issued.key.cert);
    }

    #[test]
    fn damaged_files_are_set_aside_and_count_as_missing() {
        let (_place, folder) = folder();
        let issued = Issued::new("https://ca/dir", pem(&["a.example.com"])).unwrap();
        folder.keep_certificate(&wanted("www"), &issued, 0).unwrap();
        let path = folder.path.join("www.pem");
        let whole = std::fs::read(&path).unwrap();
        let mut foreign = format!("{DIRECTORY}https://ca/dir\n{}", pem(&["x.example.com"]));
        foreign.truncate(foreign.find("-----BEGIN CERT").unwrap());
        foreign += &pem(&["a.example.com"])
            .split_off(pem(&["a.example.com"]).find("-----BEGIN CERT").unwrap());
        let damaged: [&[u8]; 6] = [
            b"",
            b"\xff\xfe",
            b"directory: x\n",
            &whole[..whole.len() / 2],
            &whole[20..],
            foreign.as_bytes(),
        ];
        for bytes in damaged {
            std::fs::write(&path, bytes).unwrap();
            assert!(folder.certificate("www").is_none(), "{}", String::from_utf8_lossy(bytes));
            assert!(!path.exists() && folder.path.join("www.pem.damaged").exists());
        }
        std::fs::write(folder.path.join("www.retry"), "{\"failures\": 3").unwrap();
        assert_eq!(folder.attempts(&wanted("www")).unwrap(), Attempts::default());
        std::fs::write(folder.path.join("account-ca-dir.json"), "[]").unwrap();
        assert!(folder.account(&wanted("www").authority).unwrap().is_none());
        assert!(folder.path.join("account-ca-dir.json.damaged").exists());
    }

    #[test]
    fn attempts_survive_a_restart() {
        let (place, folder) = folder();
        let mut attempts = Attempts::default();
        attempts.begin(1_000, 0);
        folder.keep_attempts(&wanted("www"), &attempts).unwrap();
        drop(folder);
        let folder = opened_again(&place.path().join("acme"));
        assert_eq!(folder.attempts(&wanted("www")).unwrap(), attempts);
    }

    /// A program that another test starts has the lock from its fork to its exec.
    fn opened_again(path: &Path) -> Folder {
        loop {
            if let Ok(folder) = Folder::open(path) {
                return folder;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_folder_belongs_to_one_engine() {
        let (place, folder) = folder();
        let error = Folder::open(&place.path().join("acme")).unwrap_err().to_string();
        assert!(error.contains("in use by another engine"), "{error}");
        drop(folder);
        opened_again(&place.path().join("acme"));
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(Folder::open(&file).is_err());
    }

    #[test]
    fn accounts_of_two_authorities_have_two_files() {
        let long = format!("https://ca/{}", "../".repeat(200));
        assert_eq!(account_file("https://ca.example/acme/dir"), "account-ca.example-acme-dir.json");
        assert!(account_file(&long).len() < 200 && !account_file(&long).contains('/'));
    }
}
