//! Values of rows that are known by a name.

use super::*;

const B: &str = "1.3.2[\"index\",\"1.3.1\",\"b\"]";
const C: &str = "1.3.2[\"index\",\"1.3.1\",\"c\"]";

impl Bed {
    /// The next request asks for these names; they are answered.
    fn told(&mut self, kind: PduKind, names: &[&str], rows: &Rows<'_>) {
        self.drive();
        let (asked_kind, asked, _, id) = self.asked();
        assert_eq!((asked_kind, asked), (kind, names.iter().map(|n| format!(".{n}")).collect()));
        self.answer(id, (0, 0), rows);
    }

    /// The names are walked: `a` has the row 4, `b` the row 300.
    fn walked(&mut self) {
        let (a, b) = (Value::Octets(b"a"), Value::Octets(b"b"));
        self.told(PduKind::GetNext, &["1.3.1"], &vec![("1.3.1.4", a)]);
        self.told(PduKind::GetNext, &["1.3.1.4"], &vec![("1.3.1.300", b)]);
        self.told(PduKind::GetNext, &["1.3.1.300"], &vec![("1.3.2.4", Value::Counter32(1))]);
    }
}

fn five() -> Value<'static> {
    Value::Counter32(5)
}

#[test]
fn a_row_is_found_by_its_name() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, false), &[B]);
    bed.walked();
    bed.told(PduKind::Get, &["1.3.2.300"], &vec![("1.3.2.300", five())]);
    assert_eq!(bed.ended(), [(0, value("5"))]);
}

#[test]
fn a_row_that_is_known_is_checked_without_a_walk() {
    for bulk in [false, true] {
        let mut bed = Bed::new();
        bed.ask(snmp(2, false), &[C]);
        bed.walked();
        let why = "Cannot find index of \"c\" in \"1.3.1\".";
        assert_eq!(bed.ended(), [(0, unsupported(why))]);
        // The walk for one name has told where another is.
        bed.ask(snmp(2, bulk), &[B]);
        let (name, row) = ("1.3.1.300", ("1.3.2.300", five()));
        let named = (name, Value::Octets(b"b"));
        if bulk {
            bed.told(PduKind::Get, &[name, "1.3.2.300"], &vec![named, row]);
        } else {
            bed.told(PduKind::Get, &[name], &vec![named]);
            bed.told(PduKind::Get, &["1.3.2.300"], &vec![row]);
        }
        assert_eq!(bed.ended(), [(0, value("5"))]);
        // Another interface knows nothing of it.
        let mut question = bed.question(snmp(2, false));
        question.interface = InterfaceId(2);
        question.add(1, Plan::parse(B).unwrap());
        bed.engine.start(question, bed.now);
        bed.engine.flush();
        assert_eq!(bed.asked().1, [".1.3.1"]);
    }
}

#[test]
fn another_name_in_the_row_leads_to_a_walk() {
    let both = ["1.3.1.300", "1.3.2.300"];
    let moved = vec![(both[0], Value::Octets(b"x")), (both[1], Value::Counter32(9))];
    let gone = vec![(both[0], Value::NoSuchInstance), (both[1], Value::NoSuchInstance)];
    for answer in [moved, gone, Vec::new()] {
        let mut bed = Bed::new();
        bed.ask(snmp(2, false), &[C]);
        bed.walked();
        assert_eq!(bed.ended().len(), 1);
        bed.ask(snmp(2, true), &[B]);
        bed.told(PduKind::Get, &both, &answer);
        let b = Value::Octets(b"b");
        bed.told(PduKind::GetBulk, &["1.3.1"], &vec![("1.3.1.7", b), ("1.3.2.4", five())]);
        bed.told(PduKind::Get, &["1.3.2.7"], &vec![("1.3.2.7", five())]);
        assert_eq!(bed.ended(), [(0, value("5"))]);
        // That is known from now on.
        bed.ask(snmp(2, true), &[B]);
        let row = vec![("1.3.1.7", b), ("1.3.2.7", Value::NoSuchInstance)];
        bed.told(PduKind::Get, &["1.3.1.7", "1.3.2.7"], &row);
        let why = "No Such Instance currently exists at this OID";
        assert_eq!(bed.ended(), [(0, unsupported(why))]);
    }
}

#[test]
fn version_1_reports_only_the_missing_value() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, false), &[C]);
    bed.walked();
    assert_eq!(bed.ended().len(), 1);
    bed.ask(snmp(1, true), &[B]);
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked, [".1.3.1.300", ".1.3.2.300"]);
    let rows = vec![("1.3.1.300", Value::Null), ("1.3.2.300", Value::Null)];
    bed.send(&answer(Version::V1, id, (2, 2), &rows));
    bed.drive();
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked, [".1.3.2.300"]);
    bed.send(&answer(Version::V1, id, (2, 1), &vec![("1.3.2.300", Value::Null)]));
    let ended = bed.ended();
    assert!(
        matches!(&ended[..], [(0, CheckReply::NotSupported(why))] if why.contains("such variable"))
    );
}

#[test]
fn of_two_rows_with_a_name_the_last_counts() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &[B]);
    let b = || Value::Octets(b"b");
    let rows = vec![("1.3.1.1", b()), ("1.3.1.2", b()), ("1.3.2.1", five())];
    bed.told(PduKind::GetBulk, &["1.3.1"], &rows);
    bed.told(PduKind::Get, &["1.3.2.2"], &vec![("1.3.2.2", five())]);
    assert_eq!(bed.ended(), [(0, value("5"))]);
}
