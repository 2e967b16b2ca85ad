//! Changes of the states of items, on their way to the writer of events.

use model::{TriggerFinding, ValueType};

use crate::testing::{Rig, START_S, host, item, snapshot};

impl Rig {
    /// Item, second, error of the changes since the last call.
    fn states(&mut self) -> Vec<(u64, u32, String)> {
        let findings = self.found_with_findings().1.into_iter();
        let states = findings.filter_map(|finding| match finding {
            TriggerFinding::ItemState { item, is_rule, at, error } => {
                assert!(!is_rule, "states of rules come from low-level discovery");
                Some((item.0, at.clock - START_S, error))
            }
            _ => None,
        });
        states.collect()
    }
}

#[test]
fn each_change_is_told_in_its_order() {
    let mut rule = item(2, 1, "rule", ValueType::Text);
    rule.discovery_rule = true;
    let items = vec![item(1, 1, "k", ValueType::Unsigned), rule];
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    rig.send(1, &[("1", 1)]);
    assert!(rig.states().is_empty());
    rig.send(1, &[("!why", 2), ("!another", 3)]);
    assert_eq!(rig.states(), [(1, 2, "why".to_owned())]);
    assert_eq!(rig.error_of(1), "another");
    rig.send(1, &[("5", 4), ("!third", 5), ("6", 6)]);
    let expected = [(1, 4, ""), (1, 5, "third"), (1, 6, "")];
    assert_eq!(rig.states(), expected.map(|(item, at, error)| (item, at, error.to_owned())));
    rig.send(2, &[("!of a rule", 7)]);
    assert!(rig.states().is_empty());
    assert_eq!(rig.error_of(2), "of a rule");
}

#[test]
fn a_flood_waits_and_values_do_not() {
    const MANY: u64 = 1_000;
    let items = (1..=MANY).map(|id| item(id, 1, &format!("k{id}"), ValueType::Unsigned)).collect();
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    let all = |text: &'static str, at: u32| -> Vec<(u64, &str, u32)> {
        (1..=MANY).map(|id| (id, text, at)).collect()
    };
    assert_eq!(rig.send_many(&all("!gone", 1)).processed, MANY);
    let first = rig.states();
    assert!(first.len() < 500, "{} at once", first.len());
    assert!(rig.cores[0].takes_values());
    assert_eq!(rig.send_many(&all("!changed", 2)).processed, MANY);
    assert!(rig.states().is_empty(), "another error is no change");
    // The last item works again before its turn comes, the one before it breaks once more.
    rig.send_many(&[(MANY, "1", 3), (MANY - 1, "1", 3), (MANY - 1, "!again", 4)]);
    rig.pass(10);
    let rest = rig.states();
    assert_eq!(first.len() + rest.len(), usize::try_from(MANY).unwrap() - 1);
    let told = |id: u64| rest.iter().find(|(item, _, _)| *item == id);
    assert_eq!(told(MANY), None);
    assert_eq!(told(MANY - 1), Some(&(MANY - 1, 4, "again".to_owned())));
    assert_eq!(told(MANY - 2), Some(&(MANY - 2, 1, "changed".to_owned())));
    // At the end of a shard nothing is left behind.
    rig.send_many(&all("1", 30));
    let core = &mut rig.cores[0];
    core.states.tell_all(&core.slots, &mut core.findings);
    rig.settle();
    assert_eq!(rig.states().len(), usize::try_from(MANY).unwrap() - 1);
}
