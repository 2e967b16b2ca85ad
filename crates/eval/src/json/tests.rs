use super::*;

#[test]
fn round_trips() {
    for (text, out) in [
        (" {\"a\" : [1, 2.50,-3e5 ,null,true] } ", Some("{\"a\":[1,2.5,-300000,null,true]}")),
        ("\"\\u00e9\\ud83d\\ude00\\n\\/\"", Some("\"é😀\\n/\"")),
        ("[]", Some("[]")),
        ("{}", Some("{}")),
        ("\"\\ud800\"", None),
        ("[01]", None),
        ("[\"a\tb\"]", None),
        ("[1e400,12345678901234567890123]", Some("[INF,1.2345678901234568E+22]")),
        ("[1,]", None),
        ("{\"a\":}", None),
        ("{a:1}", None),
        ("\"a", None),
        ("\"\\x\"", None),
        ("\"\\u12\"", None),
        ("[1] x", None),
        ("", None),
        ("-", None),
        (".5", None),
    ] {
        assert_eq!(parse(text).ok().map(|j| j.to_json()).as_deref(), out, "{text}");
    }
    assert!(parse(&"[".repeat(100_000)).is_err());
}

/// Finding goes the way of parsing: the same errors, the same value.
#[test]
fn finding_is_parsing_and_looking() {
    let ways: [(&str, Vec<Step>); 4] = [
        ("", vec![]),
        ("a", vec![Step::Member("a".to_owned())]),
        ("b[1]", vec![Step::Member("b".to_owned()), Step::Element(1)]),
        ("[2].a", vec![Step::Element(2), Step::Member("a".to_owned())]),
    ];
    let deep = |n| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let documents = [
        "{\"a\":{\"x\":[1,2]},\"b\":[0,\"two\"],\"a\":7}",
        "{\"b\":[1,{\"c\":null}],\"b\":[1]}",
        "[1,[2],{\"\\u0061\":\"long enough a text \\n with escapes\"}] and more",
        " \n[true,false,{\"a\":-1.50}] ",
        "\u{a0}{\"a\":1}",
        "{\"x\":[1,2,}",
        "{\"x\":\"a\tb\"}",
        "{\"x\" 1}",
        "[1 2]",
        "",
        "7",
        &deep(DEPTH_MAX),
        &deep(DEPTH_MAX + 1),
        &deep(DEPTH_MAX + 2),
        &format!("{{\"b\":[1,{}]}}", deep(DEPTH_MAX)),
    ];
    for document in documents {
        for (extent, parsed) in [
            (Extent::Whole, parse_container(document)),
            (Extent::Start, parse_first_container(document)),
        ] {
            for (name, way) in &ways {
                let looked = parsed.as_ref().map_err(Clone::clone).map(|root| {
                    way.iter().try_fold(root, |at, step| match (step, at) {
                        (Step::Member(name), at) => at.get(name),
                        (Step::Element(n), Json::Array(elements)) => elements.get(*n),
                        _ => None,
                    })
                });
                let found = find(document, extent, way);
                assert_eq!(
                    found.as_ref().map(Option::as_ref),
                    looked.as_ref().map(|x| *x),
                    "{name} of {document}"
                );
            }
        }
    }
}

#[test]
fn plain_bytes_end_where_they_end() {
    for special in ['"', '\\', '\n', '\0', '\u{1f}'] {
        for before in 0..40 {
            let text = format!(
                "{}{special}{special}ö",
                "é\u{7f}~x ".repeat(8)[..].chars().take(before).collect::<String>()
            );
            let expected = text.find(special).unwrap();
            assert_eq!(plain_len(text.as_bytes()), expected, "{text:?}");
        }
    }
    assert_eq!(plain_len("abcdefghi".as_bytes()), 9);
    let mut out = String::new();
    write_string(&mut out, "a\"b\\c\u{8}\u{c}\n\r\t\u{1}ö and more than eight bytes");
    assert_eq!(out, "\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001ö and more than eight bytes\"");
}
