//! Texts and values that mean harm, and texts without an end.

use super::*;
use crate::text::{MESSAGE_BYTES_MAX, PARAMETER_BYTES_MAX, Sent};

use About::Problem;

#[test]
fn texts_end_at_their_limits() {
    let world = with_trigger();
    let expander = world.expander(Problem, &[]);
    let subject = expander.subject(&"ä{HOST.HOST}".repeat(100), &anybody());
    assert_eq!(subject.chars().count(), 255);
    assert!(subject.starts_with("äweb-1äweb-1"));
    let message = expander.expand(&"ä".repeat(40_000), &anybody());
    assert_eq!(message.len(), MESSAGE_BYTES_MAX - 1);
    assert_eq!(expander.expand(&"x".repeat(65_535), &anybody()).len(), 65_535);
    let sent = Sent { message: &"m".repeat(65_535), ..Sent::default() };
    let parameter = expander.parameter(&"{ALERT.MESSAGE}".repeat(100), &anybody(), sent);
    assert_eq!(parameter.len(), PARAMETER_BYTES_MAX);
    assert_eq!(expander.subject("two\nlines", &anybody()), "two\nlines");
}

#[test]
fn what_only_looks_like_a_macro_stays() {
    let world = with_trigger();
    for text in [
        "{",
        "}",
        "{}",
        "{{",
        "}}",
        "{{}}",
        "{{{{HOST.",
        "{HOST.NAME",
        "{ HOST.NAME}",
        "{host.name}",
        "{HOST.NAME }",
        "{{HOST.NAM}.btoa()}",
        "{EVENT.TAGS.",
        "{EVENT.TAGS.\"a}",
        "{$",
        "{$A",
        "{$A:\"}",
        "{?",
        "{?}",
        "{#",
        "{\u{0}}",
        "{HOST\u{301}.NAME}",
        "{HOST.NAME\u{200b}}",
        "{🦀}",
        "{{🦀}.btoa()}",
        "{EVENT.TAGS.\"\\\"}",
    ] {
        assert_eq!(world.text(Problem, text), text);
    }
    world.check(
        Problem,
        &[
            ("{{{HOST.HOST}}}", "{{web-1}}"),
            ("{{HOST.HOST}.btoa()", "{web-1.btoa()"),
            ("{{{HOST.HOST}.btoa()}.btoa()}", "{d2ViLTE=.btoa()}"),
            ("{?{?last(//k)}}", "*UNKNOWN*}"),
            ("{EVENT.TAGS.}{EVENT.TAGS.{HOST.HOST}}", "{EVENT.TAGS.}*UNKNOWN*}"),
        ],
    );
}

#[test]
fn values_are_not_expanded_again() {
    let mut world = with_trigger();
    let harm = "{HOST.HOST} {$HIDDEN} {?last(//k)} {{HOST.HOST}.btoa()} \" \\ \r\n</b>";
    world.put(
        &table::ITEMS,
        &[
            ("itemid", 29_u64.into()),
            ("hostid", HOST.into()),
            ("key_", "t".into()),
            ("type", Value::from(2)),
            ("value_type", Value::from(4)),
        ],
    );
    world.shelf().put(29, START, SampleValue::Text(harm.into()));
    world.run("UPDATE functions SET itemid = 29 WHERE functionid = 2");
    world.put(
        &table::TRIGGER_TAGS,
        &[("triggertagid", 9_u64.into()), ("triggerid", TRIGGER.into())],
    );
    world.run_state(&format!("UPDATE events SET name = '{harm}' WHERE eventid = {PROBLEM}"));
    tag(&world, 70, PROBLEM, "harm", harm);
    for text in
        ["{ITEM.VALUE2}", "{EVENT.NAME}", "{EVENT.TAGS.harm}", "{?last(//t)}", "{ITEM.LASTVALUE2}"]
    {
        assert_eq!(world.text(Problem, text), harm, "{text}");
    }
    assert_eq!(world.text(Problem, "{EVENT.OPDATA}"), format!("k=2.93 KB f={harm}"));
    let sent = Sent { message: harm, ..Sent::default() };
    let expander = world.expander(Problem, &[]);
    assert_eq!(expander.parameter("{ALERT.MESSAGE}", &anybody(), sent), harm);
}

#[test]
fn values_make_no_links() {
    let world = with_trigger();
    let harm = "{ALERT.LINK.CLOSE}";
    world.run_state(&format!("UPDATE events SET name = '{harm}' WHERE eventid = {PROBLEM}"));
    tag(&world, 70, PROBLEM, "harm", harm);
    let template =
        "{ALERT.LINK.ACK} {EVENT.NAME} {EVENT.TAGS.harm} {{EVENT.NAME}.regsub(\"(.*)\", \"\\1\")}";
    let expected = "{ALERT.LINK.ACK} { ALERT.LINK.CLOSE} { ALERT.LINK.CLOSE} { ALERT.LINK.CLOSE}";
    let expander = world.expander(Problem, &[template]);
    let message = expander.expand(template, &anybody());
    assert_eq!(message, expected);
    assert_eq!(expander.subject(template, &anybody()), expected);
    let sent = Sent { message: &message, sendto: harm, ..Sent::default() };
    for (parameter, expected) in [
        ("{ALERT.LINK.SUPPRESS} {EVENT.NAME}", "{ALERT.LINK.SUPPRESS} { ALERT.LINK.CLOSE}"),
        ("{ALERT.MESSAGE}", expected),
        ("{{ALERT.MESSAGE}.lowercase()}", &*expected.to_lowercase()),
        ("{ALERT.SENDTO}", "{ ALERT.LINK.CLOSE}"),
    ] {
        assert_eq!(expander.parameter(parameter, &anybody(), sent), expected, "{parameter}");
    }
}

#[test]
fn very_many_macros_cost_little() {
    let world = with_trigger();
    for part in [
        "{ITEM.VALUE}",
        "{EVENT.TAGS}",
        "{EVENT.OPDATA}",
        "{TRIGGER.NAME}",
        "{NO.SUCH}",
        "{$NOSUCH}",
        "{?last(//k)}",
        "{{ITEM.VALUE}.fmtnum(2)}",
        "{EVENT.TAGS.\"",
        "{$A:\"",
        "{{HOST.HOST}.btoa(\"",
        "{{?{{?",
        "{",
    ] {
        let text = part.repeat(65_536 / part.len());
        let expander = world.expander(Problem, &[&text]);
        assert!(expander.expand(&text, &anybody()).len() <= MESSAGE_BYTES_MAX);
    }
    // Values that are there are read once.
    assert!(world.shelf.reads.load(SeqCst) <= 20);
}

#[test]
fn a_long_value_does_not_multiply() {
    let mut world = with_trigger();
    world.run("UPDATE items SET value_type = 4 WHERE itemid = 20");
    world.put(&table::ITEM_TAGS, &[("itemtagid", 1_u64.into()), ("itemid", ITEM_K.into())]);
    world.shelf().put(ITEM_K, START, SampleValue::Text("v".repeat(1 << 20).into()));
    let text = "{ITEM.VALUE}".repeat(5000);
    assert_eq!(world.text(Problem, &text), "v".repeat(MESSAGE_BYTES_MAX));
}

#[test]
fn macro_functions_get_a_part_of_a_very_long_value() {
    let mut world = with_trigger();
    world.run("UPDATE items SET value_type = 4 WHERE itemid = 20");
    world.put(&table::ITEM_TAGS, &[("itemtagid", 1_u64.into()), ("itemid", ITEM_K.into())]);
    let long = format!("{}end", "ä".repeat(1 << 20));
    world.shelf().put(ITEM_K, START, SampleValue::Text(long.into()));
    for text in ["{ITEM.VALUE}", "{FUNCTION.VALUE}", "{?last(//k)}"] {
        let text = format!("{{{text}.regsub(end, too long)}}");
        assert_eq!(world.text(Problem, &text), "", "{text}");
    }
}

#[test]
fn expression_macros_read_a_limited_number_of_rows() {
    let world = with_trigger();
    let text = "{?count(//k,1h)}";
    let shown = |limit: usize| {
        let expander = world.expander(Problem, &[text]);
        expander.values.rows_left.set(limit);
        expander.expand(&format!("{text} {{ITEM.VALUE}} {{?count(//k,2h)}}"), &anybody())
    };
    assert_eq!(shown(4), "2 2.93 KB 2");
    assert_eq!(shown(3), "2 2.93 KB *UNKNOWN*");
    assert_eq!(shown(1), "*UNKNOWN* 2.93 KB *UNKNOWN*");
}
