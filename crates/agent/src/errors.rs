//! Error texts of items that several modules share.

/// The agent has no such key, or its rules deny it.
pub(crate) const UNSUPPORTED: &str = "Unsupported item key.";

/// `[2] No such file or directory`, as agents write it.
pub(crate) fn system_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
            format!("[{code}] {text}")
        }
        None => text,
    }
}
