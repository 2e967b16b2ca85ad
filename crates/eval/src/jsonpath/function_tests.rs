//! Names and functions, as a Zabbix 7.0.22 answers them.

use super::*;

const STORE: &str = r#"{"b":[{"t":"one","p":8.50,"id":1},{"t":"two","p":12,"id":2},
    {"t":"three","p":"20","id":3,"x":{"y":[1,2]}}],"f":{"p":10,"n o":null},"e":[],"m":[1,null],
    "q":["a"],"w":[[1]],"z":[true],"l":["1x"],"big":["1e400"],"g":[1e308,1e308]}"#;

fn check(cases: &[(&str, Result<Option<&str>, &str>)]) {
    for (path, expected) in cases {
        let got = query(STORE, path).map_err(|error| error.to_string());
        let expected = (*expected).map(|text| text.map(str::to_owned)).map_err(str::to_owned);
        assert_eq!(got, expected, "{path}");
    }
}

#[test]
fn names() {
    check(&[
        ("$~", Ok(Some(""))),
        ("$~~", Ok(Some(""))),
        ("$.f~", Ok(Some("f"))),
        ("$.f~~", Ok(Some(""))),
        ("$.f['n o']~", Ok(Some("n o"))),
        ("$.b[*]~", Ok(Some("[\"0\",\"1\",\"2\"]"))),
        ("$.b[*]~~", Ok(Some("[\"\",\"\",\"\"]"))),
        ("$.b[-1]~", Ok(Some("2"))),
        ("$.b[*]~.first()", Ok(Some("0"))),
        ("$.b[*]~.length()", Ok(Some("3"))),
        ("$.b.first()~", Ok(Some("0"))),
        ("$.b.first()~~", Ok(Some(""))),
        ("$.b.length()~", Ok(Some(""))),
        ("$.b[*].p.sum()~", Ok(Some(""))),
        ("$..first()~", Ok(Some(""))),
        ("$..id.first()~", Ok(Some("id"))),
        ("$..y[*].first()~", Ok(Some("0"))),
        ("$.none~", Err(NO_NAME)),
        ("$.e.first()~", Err(NO_NAME)),
        ("$~.first()", Err(NO_ARRAY)),
        ("$.f~.length()", Err(NO_ARRAY)),
    ]);
}

#[test]
fn functions() {
    let number = "array value is not a number or out of range: ";
    let (text, cut, large) =
        (format!("{number}a"), format!("{number}1x"), format!("{number}1e400"));
    check(&[
        ("$..id.first()", Ok(Some("1"))),
        ("$..t.first()", Ok(Some("one"))),
        ("$..y.first()", Ok(Some("[1,2]"))),
        ("$..y.length()", Ok(Some("1"))),
        ("$..y[*].length()", Ok(Some("2"))),
        ("$..e.first()", Ok(Some("[]"))),
        ("$..e[*].first()", Ok(None)),
        ("$..none.first()", Ok(None)),
        ("$..none.length()", Ok(Some("0"))),
        ("$..none.max()", Err("cannot apply aggregation function to empty array")),
        ("$..length()", Ok(Some("1"))),
        ("$..p.sum()", Ok(Some("50.5"))),
        ("$.b[*].t.first()", Ok(Some("one"))),
        ("$.f.first()", Err(NO_ARRAY)),
        ("$.b.length().max()", Err(NO_ARRAY)),
        ("$..first().length()", Err(NO_ARRAY)),
        ("$..max()", Err(NO_NUMBER)),
        ("$.m.sum()", Err(NO_NUMBER)),
        ("$.w.sum()", Err(NO_NUMBER)),
        ("$.z.sum()", Err(NO_NUMBER)),
        ("$.q.sum()", Err(&text)),
        ("$.l.sum()", Err(&cut)),
        ("$.big.sum()", Err(&large)),
        ("$.g.sum()", Err("invalid function result: INF")),
    ]);
}

#[test]
fn nothing_but_names_and_functions_follows_them() {
    for (path, rest) in [
        ("$.b.first().t", "t"),
        ("$.b.first()['t']", "['t']"),
        ("$.b.first()..t", "t"),
        ("$.b.first().*", "*"),
        ("$.b.first().t.length()", "t.length()"),
        ("$..y.first()[0]", "[0]"),
        ("$~[0]", "[0]"),
        ("$.f~.p", "p"),
        ("$..~", "~"),
    ] {
        let error = query(STORE, path).unwrap_err();
        assert_eq!(error, QueryError::Path(PathError::Unsupported(rest.to_owned())), "{path}");
    }
}
