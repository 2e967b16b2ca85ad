//! Recorded cases of allowed peers.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use wire::peers::PeerList;

#[test]
fn peers_are_let_in_as_by_the_reference() {
    let shared = std::env::var_os("VEDETTE_SHARED")
        .expect("VEDETTE_SHARED must name the folder with the conformance data");
    let path = std::path::Path::new(&shared).join("conformance/allowed_peers.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases = 0;
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let list = PeerList::parse(case["allowed"].as_str().unwrap()).unwrap();
        let peer = case["peer"].as_str().unwrap().parse().unwrap();
        assert_eq!(list.allows(peer), case["expect"]["allowed"].as_bool().unwrap(), "{case}");
        cases += 1;
    }
    assert!(cases >= 30, "only {cases} cases in {}", path.display());
}
