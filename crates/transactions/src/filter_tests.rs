//! Filters that are not understood: what the error says.

use super::*;

fn error(text: &str) -> String {
    text.parse::<Filter>().unwrap_err().to_string()
}

#[test]
fn errors_say_what_and_where() {
    let columns = "columns are began, engine, service";
    assert!(error("status=200 stat=5").contains(columns));
    assert!(error("status=200 stat=5").ends_with("at character 12: \"stat=5\""));
    for (filter, message) in [
        ("path", "a condition is a column, an operator"),
        ("status", "a condition is a column, an operator"),
        ("=5", "no column is named \"\""),
        ("status=many", "\"many\" is not a number"),
        ("status=0xx", "\"0xx\" is not a number"),
        ("total>5min", "units are us, ms, s"),
        ("total>-5", "\"-5\" is not a number"),
        ("total>infs", "\"infs\" is not a number"),
        ("total>1,2", "> takes one value"),
        ("status^=5", "a number cannot be compared by ^="),
        ("path<5", "a text cannot be compared by <"),
        ("client>10.0.0.1", "use = with a network"),
        ("client=10.0.0", "\"10.0.0\" is not an address or network"),
        ("client=10.0.0.0/33", "is not an address or network"),
        ("client=10.0.0.0/", "is not an address or network"),
        ("path=\"/a", "a quote is not closed"),
    ] {
        assert!(error(filter).contains(message), "{filter}: {}", error(filter));
    }
}

#[test]
fn positions_count_characters() {
    assert!(error("host=ä  nix=5").ends_with("at character 9: \"nix=5\""));
    assert!(error("path=/a host=\"x y").ends_with("at character 9: \"host=\"x y\""));
}

#[test]
fn a_long_filter_is_refused() {
    assert!(error(&"a".repeat(9_000)).contains("at most 8192 bytes"));
}

#[test]
fn the_whole_range_is_understood() {
    for filter in ["client=0.0.0.0/0", "client=::/0", "response_bytes<=18446744073709551615"] {
        assert!(filter.parse::<Filter>().is_ok(), "{filter}");
    }
}
