use super::*;

fn values(arguments: &[&str], file: &str) -> anyhow::Result<Values> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("v.toml");
    std::fs::write(&path, file)?;
    let config = path.to_str().unwrap().to_owned();
    let mut all = vec!["vedette", "--config", &config];
    all.extend_from_slice(arguments);
    let matches = add(Command::new("vedette"), SERVER).try_get_matches_from(all)?;
    Values::read(&matches, SERVER)
}

#[test]
fn flag_over_file_over_default() {
    let values = values(&["--http", "127.0.0.1:1"], "http = \"x\"\ntrapper = \"y\"\n").unwrap();
    assert_eq!(values.get("http"), "127.0.0.1:1");
    assert_eq!(values.get("trapper"), "y");
    assert_eq!(values.get("agent"), "127.0.0.1:10050");
}

#[test]
fn a_wrong_file_is_refused_with_what_is_known() {
    let error = values(&[], "htpp = \"x\"").unwrap_err().to_string();
    assert!(error.contains("htpp") && error.contains("http_tls_cert"), "{error}");
    assert!(values(&[], "http = [1]").is_err());
}

#[test]
fn the_page_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/parameters.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/parameters.md is out of date: cargo run -p server -- parameters > docs/parameters.md"
    );
}
