use proptest::prelude::*;

use super::State::{Down, Draining, Up, Waiting};
use super::*;

fn settings(ha_mode: HaMode, engines_per_vip: u32, vips_per_engine: u32) -> Settings {
    Settings { ha_mode, engines_per_vip, vips_per_engine, ..Settings::default() }
}

fn group(settings: Settings, vips: u64, engines: &[State]) -> Group {
    let engines = (1..).zip(engines.iter().copied()).collect();
    Group { settings, vips: (1..=vips).collect(), engines, before: Assignment::new() }
}

/// Engines of each VIP, in the order of their ids.
fn shown(placement: &Placement) -> Vec<Vec<u64>> {
    placement.assignment.values().map(|one| one.engines().into_iter().collect()).collect()
}

/// The same group after its engines have changed.
fn next(group: &Group, placement: &Placement, engines: &[State]) -> Group {
    let engines = (1..).zip(engines.iter().copied()).collect();
    Group { engines, before: placement.assignment.clone(), ..group.clone() }
}

#[test]
fn all_engines_own_all_vips_by_default() {
    let group = group(Settings::default(), 2, &[Up, Up, Up]);
    let placement = group.place(7);
    assert_eq!(shown(&placement), [[1, 2, 3], [1, 2, 3]]);
    assert_eq!((placement.wanted, placement.short.len()), (3, 0));
    let failed = next(&group, &placement, &[Up, Down, Up]).place(9);
    assert_eq!(shown(&failed), [[1, 3], [1, 3]]);
    assert_eq!(failed.short[&1].to_string(), "only 2 engines of the group are up");
}

#[test]
fn another_engine_takes_over_and_keeps_what_it_got() {
    let pair = group(settings(HaMode::ActiveStandby, 0, 0), 2, &[Up, Up, Up]);
    let first = pair.place(1);
    assert_eq!(shown(&first), [[1], [2]]);
    assert_eq!(pair.standby(&first), BTreeMap::from([(1, 3), (2, 3)]));
    let waits = next(&pair, &first, &[Waiting, Up, Up]);
    assert_eq!(waits.place(2), first, "nothing moves within the hold time");
    let failed = next(&pair, &first, &[Down, Up, Up]);
    let second = failed.place(3);
    assert_eq!(shown(&second), [[3], [2]]);
    assert_eq!(second.assignment[&1].owners[0].since, 3);
    assert_eq!(second.assignment[&2].owners[0].since, 1);
    let returned = next(&pair, &second, &[Up, Up, Up]).place(4);
    assert_eq!(shown(&returned), [[3], [2]], "a move breaks connections");
}

#[test]
fn vips_return_if_the_group_rebalances() {
    let settings = Settings { rebalance: true, ..settings(HaMode::ActiveStandby, 0, 0) };
    let pair = group(settings, 1, &[Up, Up]);
    let first = pair.place(1);
    assert_eq!(shown(&first), [[1]]);
    let failed = next(&pair, &first, &[Down, Up]).place(2);
    assert_eq!(shown(&failed), [[2]]);
    assert_eq!(shown(&next(&pair, &failed, &[Waiting, Up]).place(3)), [[2]]);
    assert_eq!(shown(&next(&pair, &failed, &[Up, Up]).place(4)), [[1]]);
    let many = group(settings, 4, &[Up]);
    let alone = many.place(1);
    let more = next(&many, &alone, &[Up, Up]).place(2);
    assert_eq!(shown(&more), [[2], [2], [1], [1]], "a new engine gets its share");
}

#[test]
fn room_of_spare_engines_is_for_vips_of_failed_ones() {
    let settings = Settings { spare_engines: 1, ..settings(HaMode::NPlusM, 1, 2) };
    let three = group(settings, 5, &[Up, Up, Up]);
    let first = three.place(1);
    assert_eq!(shown(&first), [vec![1], vec![2], vec![3], vec![1], vec![]]);
    assert_eq!(first.short, BTreeMap::from([(5, Reason::Spare)]));
    let failed = next(&three, &first, &[Down, Up, Up]).place(2);
    assert_eq!(shown(&failed), [vec![2], vec![2], vec![3], vec![3], vec![]]);
    assert_eq!(failed.short, BTreeMap::from([(5, Reason::Full)]));
    assert_eq!(three.room(&first, 1), Some(0));
    assert_eq!(three.room(&first, 2), Some(1));
}

#[test]
fn compact_groups_fill_one_engine_after_the_other() {
    let settings = Settings { spread: Spread::Compact, ..settings(HaMode::NPlusM, 1, 3) };
    let placement = group(settings, 5, &[Up, Up, Up]).place(1);
    assert_eq!(shown(&placement), [[1], [1], [1], [2], [2]]);
}

#[test]
fn a_draining_engine_keeps_what_no_other_can_take() {
    let group = group(settings(HaMode::NPlusM, 1, 2), 3, &[Up, Up]);
    let first = group.place(1);
    assert_eq!(shown(&first), [[1], [2], [1]]);
    let drained = next(&group, &first, &[Draining, Up]).place(2);
    assert_eq!(shown(&drained), [[2], [2], [1]]);
    let alone = next(&group, &first, &[Draining, Draining]).place(2);
    assert_eq!(shown(&alone), shown(&first));
}

#[test]
fn nothing_moves_when_all_engines_were_lost() {
    let group = group(settings(HaMode::ActiveStandby, 0, 0), 2, &[Up, Up]);
    let first = group.place(1);
    let lost = next(&group, &first, &[Down, Down]).place(2);
    assert_eq!(shown(&lost), shown(&first));
    assert_eq!(lost.short.len(), 2);
    assert_eq!(next(&group, &lost, &[Up, Waiting]).place(3), first);
}

#[test]
fn a_group_with_fewer_engines_per_vip_is_even() {
    let all = group(Settings::default(), 6, &[Up, Up, Up]);
    let before = all.place(1).assignment;
    let fewer = Group { settings: settings(HaMode::ActiveActive, 1, 0), before, ..all };
    let placement = fewer.place(2);
    let mut loads = BTreeMap::<u64, usize>::new();
    for engine in shown(&placement).into_iter().flatten() {
        *loads.entry(engine).or_default() += 1;
    }
    assert_eq!(loads, BTreeMap::from([(1, 2), (2, 2), (3, 2)]));
}

fn states() -> impl Strategy<Value = Vec<State>> {
    let state =
        prop_oneof![4 => Just(Up), 1 => Just(Waiting), 1 => Just(Draining), 2 => Just(Down)];
    proptest::collection::vec(state, 1..6)
}

fn all_settings() -> impl Strategy<Value = Settings> {
    let modes =
        prop_oneof![Just(HaMode::ActiveActive), Just(HaMode::NPlusM), Just(HaMode::ActiveStandby)];
    let spread = prop_oneof![Just(Spread::Distributed), Just(Spread::Compact)];
    (modes, spread, 0_u32..4, 0_u32..3, 0_u32..6, any::<bool>()).prop_map(
        |(ha_mode, spread, engines_per_vip, spare_engines, vips_per_engine, rebalance)| Settings {
            ha_mode,
            spread,
            engines_per_vip,
            spare_engines,
            vips_per_engine,
            rebalance,
            failover_after_s: 3,
        },
    )
}

/// A group whose VIPs were placed while its engines had other states.
fn groups() -> impl Strategy<Value = Group> {
    (all_settings(), 1_u64..12, states()).prop_flat_map(|(settings, vips, before)| {
        let engines = before.len();
        let states = proptest::collection::vec(
            prop_oneof![4 => Just(Up), 1 => Just(Waiting), 1 => Just(Draining), 2 => Just(Down)],
            engines,
        );
        (states, 1_u64..12).prop_map(move |(now, more)| {
            let old = group(settings, vips, &before);
            let placed = old.place(1);
            let vips = (1..=more).collect();
            Group { vips, ..next(&old, &placed, &now) }
        })
    })
}

fn load(placement: &Placement, engine: u64) -> usize {
    placement.assignment.values().filter(|one| one.is_owned_by(engine)).count()
}

proptest! {
    #[test]
    fn an_equal_input_has_an_equal_and_stable_result(group in groups()) {
        let first = group.place(2);
        prop_assert_eq!(&first, &group.place(2));
        let again = Group { before: first.assignment.clone(), ..group }.place(9);
        prop_assert_eq!(again.assignment, first.assignment, "placed again, nothing moves");
    }

    #[test]
    fn no_vip_is_without_owner_while_there_is_room(group in groups()) {
        let placement = group.place(2);
        let ups: Vec<u64> = group.engines.iter().filter(|(_, state)| **state == Up).map(|(id, _)| *id).collect();
        let limit = match group.settings.vips_per_engine { 0 => usize::MAX, limit => limit as usize };
        let spare = placement.short.values().any(|reason| *reason == Reason::Spare);
        for (vip, assigned) in &placement.assignment {
            let owners = assigned.engines();
            prop_assert_eq!(owners.len(), assigned.owners.len(), "no engine twice");
            prop_assert!(owners.len() <= placement.wanted);
            prop_assert_eq!(
                owners.iter().filter(|one| group.engines[one] != Down).count() < placement.wanted,
                placement.short.contains_key(vip)
            );
            if owners.is_empty() {
                let room = ups.iter().any(|engine| load(&placement, *engine) < limit);
                prop_assert!(!room || spare, "VIP {} has no owner", vip);
            }
        }
    }

    #[test]
    fn only_vips_that_must_move_do(group in groups()) {
        let group = Group { settings: Settings { rebalance: false, ..group.settings }, ..group };
        let placement = group.place(2);
        for (vip, before) in group.before.iter().filter(|(vip, _)| group.vips.contains(vip)) {
            let after = &placement.assignment[vip];
            let stay = |engine: &u64| matches!(group.engines.get(engine), Some(Up | Waiting));
            let staying = before.engines().into_iter().filter(stay).count();
            let kept = before.engines().into_iter().filter(stay).filter(|one| after.is_owned_by(*one));
            prop_assert_eq!(kept.count(), staying.min(placement.wanted), "VIP {}", vip);
        }
    }

    #[test]
    fn limits_hold_and_spare_room_stays_free(group in groups()) {
        let fresh = Group { before: Assignment::new(), ..group };
        let placement = fresh.place(2);
        let limit = fresh.settings.vips_per_engine as usize;
        if limit > 0 {
            for engine in fresh.engines.keys() {
                prop_assert!(load(&placement, *engine) <= limit);
            }
            if fresh.settings.ha_mode == HaMode::NPlusM {
                let engines = fresh.engines.len().saturating_sub(fresh.settings.spare_engines as usize);
                let placed: usize = fresh.engines.keys().map(|engine| load(&placement, *engine)).sum();
                prop_assert!(placed <= engines * limit);
            }
        }
        for engine in fresh.engines.iter().filter(|(_, state)| **state != Up).map(|(id, _)| id) {
            prop_assert_eq!(load(&placement, *engine), 0);
        }
    }
}
