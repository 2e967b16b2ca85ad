//! The thread that fetches responses and keeps them on the disk.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::Staple;
use super::fetch::{RESPONSE_MAX, fetch};
use super::query::Verdict;

/// Longest sleep: the clock of the machine may be set meanwhile.
const SLEEP_MAX_S: u64 = 60;
/// Pause after a fault of the program.
const FAULT: Duration = Duration::from_secs(60);

/// What the thread works on.
#[derive(Debug, Clone, Default)]
struct Work {
    staples: Vec<Arc<Staple>>,
    folder: PathBuf,
}

/// Fetches responses while it exists.
pub(crate) struct Stapler {
    clock: SharedClock,
    work: Option<watch::Sender<Work>>,
}

impl Stapler {
    pub(crate) fn new(clock: &SharedClock) -> Self {
        Self { clock: Arc::clone(clock), work: None }
    }

    /// Fetches responses about these certificates, and no others any more. `folder`: where they are kept.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn apply(&mut self, folder: &Path, staples: &[Arc<Staple>]) -> std::io::Result<()> {
        let work = Work { staples: staples.to_vec(), folder: folder.to_owned() };
        match &self.work {
            Some(sender) => drop(sender.send_replace(work)),
            None if staples.is_empty() => {}
            None => {
                let (sender, receiver) = watch::channel(work);
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let clock = Arc::clone(&self.clock);
                stdx::thread::permanent("ocsp", move || guard(&runtime, &receiver, &clock))?;
                self.work = Some(sender);
            }
        }
        Ok(())
    }
}

/// Works until the stapler is dropped. A fault costs responses, not the process.
fn guard(runtime: &Runtime, work: &watch::Receiver<Work>, clock: &SharedClock) {
    while let Err(fault) = stdx::thread::contain(|| runtime.block_on(run(work.clone(), clock))) {
        tracing::error!("BUG: no OCSP responses for a minute: {}", fault.text);
        std::thread::sleep(FAULT);
    }
}

async fn run(mut work: watch::Receiver<Work>, clock: &SharedClock) {
    loop {
        let Work { staples, folder } = work.borrow_and_update().clone();
        for staple in &staples {
            staple.read(&folder, clock.unix_s());
        }
        if let Err(error) = clean(&folder, &staples) {
            tracing::warn!(
                "OCSP responses of removed certificates remain in {}: {error}",
                folder.display()
            );
        }
        loop {
            let now_s = clock.unix_s();
            staples.iter().for_each(|staple| staple.expire(now_s));
            let due = staples.iter().min_by_key(|staple| staple.next_s());
            let due_s = due.map_or(u64::MAX, |due| due.next_s());
            let begin = Duration::from_secs(due_s.saturating_sub(now_s).min(SLEEP_MAX_S));
            tokio::select! {
                changed = work.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                () = tokio::time::sleep(begin) => {}
            }
            if let Some(due) = due.filter(|due| due.next_s() <= clock.unix_s()) {
                due.refresh(&folder, clock).await;
            }
        }
    }
}

impl Staple {
    /// Name of the file of its response.
    fn file(&self, folder: &Path) -> PathBuf {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &self.bare.cert[0]);
        let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        folder.join(format!("{hex}.ocsp"))
    }

    /// Takes the response that is kept, if it is still valid.
    fn read(&self, folder: &Path, now_s: u64) {
        if self.stapled.load().is_some() {
            return;
        }
        let Ok(response) = std::fs::read(self.file(folder)) else { return };
        if let Ok(Verdict::Good { until_s }) = self.query.check(&response) {
            self.set(response, until_s, now_s);
        }
    }

    /// Fetches the next response.
    async fn refresh(&self, folder: &Path, clock: &SharedClock) {
        let fetched = fetch(&self.query.url, &self.query.request).await;
        let checked = fetched.and_then(|response| {
            let verdict = self.query.check(&response);
            let verdict = verdict.map_err(|problem| format!("{}: {problem}", self.query.url))?;
            Ok((response, verdict))
        });
        self.take(folder, checked, clock.unix_s());
    }

    /// Takes the result of a request.
    fn take(&self, folder: &Path, checked: Result<(Vec<u8>, Verdict), String>, now_s: u64) {
        match checked {
            Ok((_, Verdict::Revoked)) => {
                self.stapled.store(None);
                let file = self.file(folder);
                if let Err(error) = std::fs::remove_file(&file)
                    && error.kind() != ErrorKind::NotFound
                {
                    tracing::warn!("{} cannot be deleted: {error}", file.display());
                }
                let pause_s = self.failed(now_s);
                tracing::error!(
                    "certificate '{}' is revoked, says {}: clients may refuse it and get no OCSP response; \
                     replace the certificate; asking again in {pause_s} s",
                    self.name,
                    self.query.url
                );
            }
            Ok((response, Verdict::Good { until_s })) => {
                debug_assert!(response.len() <= RESPONSE_MAX);
                if let Err(error) = keep(&self.file(folder), &response) {
                    tracing::warn!(
                        "certificate '{}': its OCSP response cannot be kept: {error}",
                        self.name
                    );
                }
                self.set(response, until_s, now_s);
                tracing::info!("certificate '{}': clients get a new OCSP response", self.name);
            }
            Err(problem) => {
                let pause_s = self.failed(now_s);
                tracing::warn!(
                    "certificate '{}': there is no new OCSP response: {problem}; trying again in {pause_s} s",
                    self.name
                );
            }
        }
    }
}

/// Deletes responses about other certificates.
fn clean(folder: &Path, staples: &[Arc<Staple>]) -> std::io::Result<()> {
    let used: HashSet<PathBuf> = staples.iter().map(|staple| staple.file(folder)).collect();
    let found = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    for file in found {
        let file = file?;
        let path = file.path();
        if is_response(&file.file_name()) && !used.contains(&path) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Whether it is the name of a file as [`Staple::file`] makes them: the folder may have others.
fn is_response(name: &OsStr) -> bool {
    let digest = name.to_str().and_then(|name| name.strip_suffix(".ocsp"));
    digest.is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn keep(path: &Path, response: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    stdx::file::replace(path, response)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, CustomExtension, KeyPair};
    use rustls::pki_types::PrivateKeyDer;
    use rustls::sign::CertifiedKey;

    use super::*;

    /// Authority information access with a responder (RFC 5280, 4.2.2.1).
    fn staple() -> Staple {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        let url = b"http://ocsp.example/";
        let length = |n: usize| u8::try_from(n).unwrap();
        let method = [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01];
        let name = [&[0x86, length(url.len())][..], url].concat();
        let one = [&[0x30, length(method.len() + name.len())][..], &method, &name].concat();
        let all = [&[0x30, length(one.len())][..], &one].concat();
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], all)];
        let der = params.self_signed(&key).unwrap().der().clone();
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let bare = CertifiedKey::from_der(vec![der.clone(), der], private, &provider).unwrap();
        Staple::new("www", &Arc::new(bare)).unwrap()
    }

    #[test]
    fn a_revoked_certificate_is_shown_without_a_response() {
        let place = tempfile::tempdir().unwrap();
        let staple = staple();
        let good = Verdict::Good { until_s: 9_000 };
        staple.take(place.path(), Ok((b"response".to_vec(), good)), 1_000);
        assert!(staple.get().ocsp.is_some() && staple.file(place.path()).exists());
        staple.take(place.path(), Err("no answer".to_owned()), 2_000);
        assert!(staple.get().ocsp.is_some(), "a request that failed says nothing");
        staple.take(place.path(), Ok((b"response".to_vec(), Verdict::Revoked)), 3_000);
        assert!(staple.get().ocsp.is_none() && !staple.file(place.path()).exists());
        assert!(staple.next_s() > 3_000);
    }

    #[test]
    fn responses_about_removed_certificates_are_deleted() {
        let place = tempfile::tempdir().unwrap();
        let staple = Arc::new(staple());
        let used = staple.file(place.path());
        let old = place.path().join(format!("{}.ocsp", "0a".repeat(32)));
        let other = place.path().join("mine.ocsp");
        for path in [&used, &old, &other] {
            std::fs::write(path, "").unwrap();
        }
        clean(place.path(), &[staple]).unwrap();
        assert!(used.exists() && other.exists() && !old.exists());
        clean(&place.path().join("missing"), &[]).unwrap();
    }
}
