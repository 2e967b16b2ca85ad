use super::*;
use crate::{Class, Driver, Error, Kinds, Memory};
use model::Timestamp;
use std::sync::Arc;

const NOON: u32 = 1_700_049_600;

fn float(clock: u32, value: f64) -> Sample {
    Sample { item: ItemId(1), at: Timestamp::from_s(clock), value: SampleValue::Float(value) }
}

fn unsigned(item: u64, clock: u32, value: u64) -> Sample {
    let value = SampleValue::Unsigned(value);
    Sample { item: ItemId(item), at: Timestamp::from_s(clock), value }
}

fn store() -> Memory {
    Memory::new(Arc::new(Class(365)))
}

fn stored(driver: &Memory, item: u64) -> Vec<Trend> {
    driver.view(&[ItemId(item)], Span::ALL).trends(ItemId(item)).unwrap()
}

#[test]
fn an_hour_is_folded_and_handed_out_when_it_is_over() {
    let mut folder = Folder::starting_at(NOON);
    let mut out = Vec::new();
    for (i, value) in [2.0, -1.0, f64::NAN, 5.0].into_iter().enumerate() {
        folder.fold(&float(NOON + i as u32, value));
    }
    folder.take(NOON + 3599, &mut out);
    assert_eq!(out, []);
    folder.take(NOON + 3600 + WRITE_WITHIN_S, &mut out);
    let values = TrendValues::Float { min: -1.0, avg: 2.0, max: 5.0 };
    let trend = Trend { item: ItemId(1), hour: NOON, num: 3, values };
    assert_eq!(out, [Folded { trend, merge: false }]);
}

#[test]
fn the_mean_of_the_largest_numbers_does_not_overflow() {
    let mut folder = Folder::starting_at(NOON);
    for clock in 0..3 {
        folder.fold(&unsigned(1, NOON + clock, u64::MAX - u64::from(clock)));
    }
    let mut out = Vec::new();
    folder.drain(&mut out);
    let values = TrendValues::Unsigned { min: u64::MAX - 2, avg: u64::MAX - 1, max: u64::MAX };
    assert_eq!(out[0].trend.values, values);
}

#[test]
fn the_mean_of_finite_floats_is_finite() {
    let mean = |values: &[f64]| {
        let mut folder = Folder::starting_at(NOON);
        for (clock, value) in values.iter().enumerate() {
            folder.fold(&float(NOON + clock as u32, *value));
        }
        let mut out = Vec::new();
        folder.drain(&mut out);
        out[0].trend
    };
    let avg = |trend: Trend| match trend.values {
        TrendValues::Float { avg, .. } => avg,
        other => panic!("{other:?}"),
    };
    // Two of these are too much.
    let half = 2_f64.powi(1_023);
    for (values, expected) in [
        (&[f64::MAX; 1_000][..], f64::MAX),
        (&[f64::MIN; 7], f64::MIN),
        (&[half, half, half, -half], half / 2.0),
        // As ever where nothing overflows, also at the last bit.
        (&[0.1, 0.2, 0.3, 1e16, -1e16], (0.1 + 0.2 + 0.3 + 1e16 - 1e16) / 5.0),
        (&[8e307, 8e307], (8e307 + 8e307) / 2.0),
        (&[1e308, 1e308, f64::INFINITY], f64::INFINITY),
    ] {
        let found = avg(mean(values));
        assert_eq!(found.to_bits(), expected.to_bits(), "{found} of {} values", values.len());
    }
    // Parts of one hour.
    let (large, small) = (mean(&[1.5e308; 3]), mean(&[-0.5e308; 1]));
    for (one, other, expected) in [(large, large, 1.5e308), (large, small, 1e308)] {
        let found = avg(merge(&one, &other));
        assert!((found / expected - 1.0).abs() < 1e-15, "{found}");
    }
}

#[test]
fn trends_are_handed_out_spread_over_the_hour() {
    let mut folder = Folder::starting_at(NOON);
    for item in 0..6000 {
        folder.fold(&unsigned(item, NOON, item));
    }
    let (mut all, mut most) = (0, 0);
    for second in 0..3600 {
        let mut out = Vec::new();
        folder.take(NOON + 3600 + second, &mut out);
        all += out.len();
        most = most.max(out.len());
    }
    assert_eq!((all, most, folder.waiting()), (6000, 2, 0));
}

#[test]
fn late_samples_join_their_hour_at_any_time() {
    let (mut folder, mut driver) = (Folder::starting_at(NOON), store());
    folder.fold(&unsigned(1, NOON, 10));
    folder.fold(&unsigned(1, NOON + 3600, 7));
    folder.fold(&unsigned(1, NOON + 1, 20));
    let mut out = Vec::new();
    folder.take(NOON + 7199, &mut out);
    write(&mut driver, &mut out).unwrap();
    let values = TrendValues::Unsigned { min: 10, avg: 15, max: 20 };
    let hour = Trend { item: ItemId(1), hour: NOON, num: 2, values };
    assert_eq!(stored(&driver, 1), [hour]);
    folder.fold(&unsigned(1, NOON + 2, 60));
    out.clear();
    folder.take(NOON + 7199, &mut out);
    assert_eq!((out.len(), out[0].merge), (1, true));
    write(&mut driver, &mut out).unwrap();
    let values = TrendValues::Unsigned { min: 10, avg: 30, max: 60 };
    assert_eq!(stored(&driver, 1), [Trend { num: 3, values, ..hour }]);
}

#[test]
fn what_waits_is_read_with_what_is_stored() {
    let (mut folder, mut driver) = (Folder::starting_at(NOON), store());
    folder.fold(&unsigned(1, NOON, 10));
    folder.fold(&unsigned(1, NOON + 3600, 7));
    let read = |folder: &Folder, driver: &Memory, last: u32| {
        let trends = with_pending(stored(driver, 1), &folder.pending(ItemId(1), NOON, last));
        trends.iter().map(|t| (t.hour - NOON, t.num)).collect::<Vec<_>>()
    };
    assert_eq!(read(&folder, &driver, NOON), [(0, 1)]);
    assert_eq!(read(&folder, &driver, NOON + 3600), [(0, 1), (3600, 1)]);
    let mut out = Vec::new();
    folder.take(NOON + 7199, &mut out);
    write(&mut driver, &mut out).unwrap();
    folder.fold(&unsigned(1, NOON + 1, 20));
    assert_eq!(read(&folder, &driver, NOON + 3600), [(0, 2), (3600, 1)]);
    assert!(folder.pending(ItemId(2), NOON, NOON + 3600).is_empty());
}

#[test]
fn an_orderly_stop_loses_nothing_of_the_open_hour() {
    let mut driver = store();
    let mut out = Vec::new();
    let mut folder = Folder::new(NOON + 10);
    folder.fold(&float(NOON + 10, 1.0));
    folder.drain(&mut out);
    write(&mut driver, &mut out).unwrap();
    let mut folder = Folder::new(NOON + 20);
    folder.fold(&float(NOON + 20, 3.0));
    out.clear();
    folder.take(NOON + 2 * 3600 - 1, &mut out);
    write(&mut driver, &mut out).unwrap();
    let values = TrendValues::Float { min: 1.0, avg: 2.0, max: 3.0 };
    assert_eq!(stored(&driver, 1), [Trend { item: ItemId(1), hour: NOON, num: 2, values }]);
}

#[test]
fn open_hours_are_aggregated_again_after_a_crash() {
    let mut driver = store();
    let samples = [float(NOON + 10, 1.0), float(NOON + 20, 3.0), float(NOON + 3700, 9.0)];
    driver.write(&samples).unwrap();
    let values = TrendValues::Float { min: 1.0, avg: 1.0, max: 1.0 };
    let partial = Trend { item: ItemId(1), hour: NOON, num: 1, values };
    driver.write_trends(&[partial]).unwrap();
    let span = open_hours(NOON + 3600 + GRACE_S);
    assert_eq!(span, Span::new(NOON, NOON + 3600 + GRACE_S));
    let mut folder = Folder::starting_at(span.from);
    let view = driver.view(&[ItemId(1)], span);
    for sample in view.samples(ItemId(1), Kinds::VALUES).unwrap() {
        folder.fold(&sample);
    }
    let mut out = Vec::new();
    folder.drain(&mut out);
    write(&mut driver, &mut out).unwrap();
    let trends = stored(&driver, 1);
    let nums: Vec<_> = trends.iter().map(|t| (t.hour, t.num)).collect();
    assert_eq!(nums, [(NOON, 2), (NOON + 3600, 1)]);
}

#[test]
fn a_changed_value_type_keeps_both_halves_of_the_hour() {
    let (mut folder, mut driver) = (Folder::starting_at(NOON), store());
    folder.fold(&float(NOON, 1.5));
    folder.fold(&unsigned(1, NOON + 1, 4));
    folder.fold(&unsigned(1, NOON + 2, 6));
    folder.fold(&float(NOON + 3, 2.5));
    folder.fold(&unsigned(1, NOON + 4, 8));
    let mut out = Vec::new();
    folder.drain(&mut out);
    write(&mut driver, &mut out).unwrap();
    let mut got: Vec<_> = stored(&driver, 1).iter().map(|t| (t.num, t.values)).collect();
    got.sort_by_key(|(num, _)| *num);
    assert_eq!(got[0], (2, TrendValues::Float { min: 1.5, avg: 2.0, max: 2.5 }));
    assert_eq!(got[1], (3, TrendValues::Unsigned { min: 4, avg: 6, max: 8 }));
}

#[test]
fn aggregating_again_replaces_what_was_stored_since_the_start() {
    let (mut folder, mut driver) = (Folder::starting_at(NOON), store());
    let mut out = Vec::new();
    folder.take(NOON + 3600, &mut out);
    // Since the start: a late sample of the hour before, and one of the open hour.
    let all = [float(NOON, 1.0), float(NOON + 1, 3.0), float(NOON + 3601, 7.0)];
    folder.fold(&all[2]);
    folder.fold(&all[1]);
    folder.take(NOON + 7199, &mut out);
    write(&mut driver, &mut out).unwrap();
    assert_eq!(stored(&driver, 1)[0].num, 1);
    folder.fold(&all[1]);
    folder.refold(ItemId(1), &all);
    out.clear();
    folder.drain(&mut out);
    assert!(out.iter().all(|folded| !folded.merge), "{out:?}");
    write(&mut driver, &mut out).unwrap();
    let nums: Vec<_> = stored(&driver, 1).iter().map(|t| (t.hour, t.num)).collect();
    assert_eq!(nums, [(NOON, 2), (NOON + 3600, 1)]);
    folder.fold(&all[0]);
    folder.forget(ItemId(1));
    out.clear();
    folder.drain(&mut out);
    assert_eq!(out, []);
}

/// A store that takes trends but says that it failed, as one whose sync fails does.
struct Unsure(Memory, bool);

impl Driver for Unsure {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        self.0.write(samples)
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.0.write_trends(trends)?;
        if self.1 { Ok(()) } else { Err(Error::storage_away("not synced")) }
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.0.clear(items)
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn crate::View> {
        self.0.view(items, span)
    }
    fn drop_before(&mut self, class: Class, day: crate::Day) -> Result<u64, Error> {
        self.0.drop_before(class, day)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.0.classes()
    }
    fn describe(&self) -> crate::DriverInfo {
        self.0.describe()
    }
    fn counters(&self) -> crate::Counters {
        self.0.counters()
    }
}

#[test]
fn a_write_that_failed_is_tried_again_without_counting_twice() {
    let mut driver = Unsure(store(), true);
    let values = TrendValues::Unsigned { min: 5, avg: 5, max: 5 };
    let part =
        |num, merge| Folded { trend: Trend { item: ItemId(1), hour: NOON, num, values }, merge };
    let mut out = vec![part(1, false)];
    write(&mut driver, &mut out).unwrap();
    driver.1 = false;
    let mut out = vec![part(2, true)];
    for _ in 0..3 {
        write(&mut driver, &mut out).unwrap_err();
    }
    // Meanwhile a late value was handed out.
    out.push(part(1, true));
    write(&mut driver, &mut out).unwrap_err();
    driver.1 = true;
    write(&mut driver, &mut out).unwrap();
    let nums: Vec<u32> = stored(&driver.0, 1).iter().map(|t| t.num).collect();
    assert_eq!(nums, [4]);
}

/// A late sample of an hour long over, which another driver than memory notes with the sample.
#[test]
fn only_hours_before_the_open_ones_are_late() {
    let now = NOON + 3 * 3600 + GRACE_S;
    let sample = |clock| unsigned(1, clock, 7);
    assert_eq!(late_hour(now, &sample(now)), None);
    assert_eq!(late_hour(now, &sample(NOON + 2 * 3600)), None);
    let late = TrendHour { item: ItemId(1), hour: NOON + 3600, unsigned: true };
    assert_eq!(late_hour(now, &sample(NOON + 2 * 3600 - 1)), Some(late));
    assert_eq!(late_hour(now, &float(5, 1.0)).map(|l| (l.hour, l.unsigned)), Some((0, false)));
    // What is not late is folded again after a crash, also a little after the next full hour.
    for crash in [now, NOON + 4 * 3600 - 1, NOON + 4 * 3600 + GRACE_S - 1] {
        assert!(open_hours(crash).has(NOON + 2 * 3600), "{crash}");
    }
}

#[test]
fn aggregated_hour_replaces_the_stored_one() {
    let hour = |num| Trend {
        item: ItemId(1),
        hour: NOON,
        num,
        values: TrendValues::Unsigned { min: 1, avg: 1, max: 1 },
    };
    let samples = [unsigned(1, NOON, 4), unsigned(1, NOON + 1, 6)];
    for (stored_num, expected) in [(None, 2), (Some(1), 2), (Some(2), 2), (Some(3), 3)] {
        let mut driver = store();
        driver.write(&samples).unwrap();
        driver.write_trends(&stored_num.map(hour).into_iter().collect::<Vec<_>>()).unwrap();
        let mut folder = Folder::starting_at(NOON + 7200);
        // It came after the start, and is in history as well.
        folder.fold(&samples[1]);
        refold_late(&mut driver, &mut folder, ItemId(1), NOON).unwrap();
        let mut out = Vec::new();
        folder.take(NOON + 4 * 3600 - 1, &mut out);
        write(&mut driver, &mut out).unwrap();
        let stored = stored(&driver, 1);
        assert_eq!(stored.iter().map(|t| t.num).collect::<Vec<_>>(), [expected]);
    }
}

#[test]
fn hours_older_than_the_last_are_handed_out_with_the_full_hour() {
    let mut folder = Folder::starting_at(NOON - 3600);
    folder.take(NOON, &mut Vec::new());
    for item in 0..100 {
        folder.fold(&unsigned(item, NOON - 1, 1));
    }
    let mut out = Vec::new();
    folder.take(NOON + 3600, &mut out);
    assert_eq!((out.len(), folder.waiting()), (100, 0));
}

#[test]
fn hours_long_over_do_not_pile_up() {
    let mut folder = Folder::new(NOON);
    let mut out = Vec::new();
    folder.take(NOON, &mut out);
    let many = u32::try_from(WAITING_MAX).unwrap() + 1000;
    for n in 0..many {
        folder.fold(&unsigned(u64::from(n / 1000), NOON - 3600 * (1 + n % 1000), 1));
    }
    assert!(folder.too_many() > 0);
    folder.take(NOON, &mut out);
    assert_eq!(folder.too_many(), 0);
    assert!(folder.waiting() <= WAITING_MAX && out.len() >= 1000);
}

#[test]
fn what_could_not_be_written_goes_with_what_came_since() {
    let mut folder = Folder::new(NOON);
    let mut out = Vec::new();
    let late = [unsigned(1, NOON - 9000, 1), unsigned(1, NOON - 9001, 2)];
    folder.fold(&late[0]);
    folder.take(NOON + 3599, &mut out);
    assert_eq!(out.len(), 1);
    folder.fold(&late[1]);
    for item in 2..9000 {
        folder.fold(&unsigned(item, NOON - 9000, 1));
    }
    folder.take(NOON, &mut out);
    let of_one = out.iter().filter(|folded| folded.trend.item == ItemId(1));
    assert_eq!(of_one.count(), 2);
    let mut driver = store();
    write(&mut driver, &mut out).unwrap();
    assert_eq!(stored(&driver, 1).iter().map(|t| t.num).collect::<Vec<_>>(), [2]);
}

#[test]
fn hour_written_before_a_clock_change_is_merged() {
    let mut folder = Folder::starting_at(NOON);
    let mut out = Vec::new();
    folder.fold(&float(NOON + 1, 5.0));
    folder.take(NOON + 3600 + WRITE_WITHIN_S, &mut out);
    assert_eq!(out.iter().map(|f| (f.trend.num, f.merge)).collect::<Vec<_>>(), [(1, false)]);
    out.clear();
    folder.take(NOON + 100, &mut out);
    folder.fold(&float(NOON + 101, 1.0));
    folder.take(NOON + 3600 + WRITE_WITHIN_S, &mut out);
    let kept: Vec<_> = out.iter().map(|f| (f.trend.hour, f.trend.num, f.merge)).collect();
    assert_eq!(kept, [(NOON, 1, true)]);
}

#[test]
fn hours_of_a_backfill_are_written_within_a_minute_and_whole() {
    const HOURS: u32 = 9 * 24;
    let mut folder = Folder::starting_at(NOON);
    let mut out = Vec::new();
    folder.take(NOON, &mut out);
    // Two packets, ten seconds apart, with one sample of each hour.
    for packet in 0..2 {
        for (item, hour) in (0..100).flat_map(|item| (2..2 + HOURS).map(move |hour| (item, hour))) {
            folder.fold(&unsigned(item, NOON - hour * HOUR_S + packet, u64::from(packet)));
        }
        folder.take(NOON + 10 * packet, &mut out);
    }
    assert_eq!(out, [], "they wait for more");
    let mut most = 0;
    for second in 10..60 {
        let before = out.len();
        folder.take(NOON + second, &mut out);
        most = most.max(out.len() - before);
        if second < LATE_WAIT_S {
            assert_eq!(out.len(), 0, "after {second} s");
        }
    }
    assert_eq!((out.len(), folder.waiting()), (100 * HOURS as usize, 0));
    assert!(out.iter().all(|folded| folded.trend.num == 2), "each hour is written once");
    assert!(most <= 3_000, "{most} in one second");
}

#[test]
fn a_clock_that_was_set_back_does_not_hold_hours_of_a_backfill() {
    let mut folder = Folder::starting_at(NOON);
    let mut out = Vec::new();
    folder.take(NOON + 1000, &mut out);
    folder.fold(&unsigned(1, NOON - 5 * HOUR_S, 1));
    folder.take(NOON + 900, &mut out);
    assert_eq!(out.len(), 1);
}
