//! Recorded framing cases: fragments fed one after the other, then the end of the connection.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use wire::zbxd::{Decoder, Limits, Progress};

fn shared() -> std::path::PathBuf {
    std::env::var_os("VEDETTE_SHARED")
        .expect("VEDETTE_SHARED must name the folder with the conformance data")
        .into()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Bytes of the accepted frame.
fn accepted(fragments: &[Vec<u8>]) -> Option<u64> {
    let mut decoder = Decoder::new(Limits::TRAPPER);
    for fragment in fragments {
        match decoder.feed(fragment).ok()? {
            Progress::More => (),
            progress => return progress.only().ok()?.map(|frame| frame.bytes),
        }
    }
    decoder.end().ok()?.map(|frame| frame.bytes)
}

#[test]
fn framing_agrees_with_the_reference() {
    let path = shared().join("conformance/zbxd_framing.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases = 0;
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let fragments: Vec<Vec<u8>> = case["fragments_hex"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hex| unhex(hex.as_str().unwrap()))
            .collect();
        let expected = case["expect"]["accepted"]
            .as_bool()
            .unwrap()
            .then(|| case["expect"]["bytes"].as_u64().unwrap());
        assert_eq!(accepted(&fragments), expected, "{}: {}", case["id"], case["name"]);
        cases += 1;
    }
    assert!(cases >= 13, "only {cases} cases in {}", path.display());
}
