//! Recorded requests of front ends: each that the reference took is understood.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use wire::Moment;
use wire::trapper::Request;

#[test]
fn recorded_requests_are_understood() {
    let shared = std::env::var_os("VEDETTE_SHARED")
        .expect("VEDETTE_SHARED must name the folder with the recorded answers");
    let folder = std::path::Path::new(&shared).join("golden/server");
    let (mut tests, mut expressions) = (0, 0);
    for file in std::fs::read_dir(&folder).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let parse = |member: &str| -> Option<String> {
                let taken = case[member.replace("request", "response")]["response"] == "success";
                taken.then(|| case[member].to_string())
            };
            if let Some(text) = parse("request") {
                let request = Request::parse(&text, Moment::default()).unwrap();
                let Request::ItemTest(test) = request else { panic!("{text}: {request:?}") };
                let steps = case["request"]["data"]["item"]["steps"].as_array().map_or(0, Vec::len);
                assert_eq!((test.sid.as_ref(), test.steps.len()), ("$SID", steps), "{text}");
                tests += 1;
            }
            if let Some(text) = parse("evaluate_request") {
                let request = Request::parse(&text, Moment::default()).unwrap();
                let Request::ExpressionsEvaluate(evaluate) = request else { panic!("{text}") };
                let wanted = &case["evaluate_request"]["data"]["expressions"];
                assert_eq!(wanted, &serde_json::json!(evaluate.expressions), "{text}");
                expressions += 1;
            }
        }
    }
    assert!(tests >= 300 && expressions >= 100, "only {tests} tests, {expressions} expressions");
}
