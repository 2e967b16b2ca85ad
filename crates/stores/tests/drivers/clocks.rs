//! Clocks that are wrong: ours, and those of senders.

use std::time::Duration;

use history::{Fault, Span};
use model::{Trend, TrendValues};
use stdx::clock::{RealClock, SharedClock, SimClock};

use super::{DAY, ITEM, MYSQL, NOW, POSTGRESQL, all, new_database, stores_at, unsigned};

#[test]
fn what_was_written_before_our_clock_was_set_back_is_deleted() {
    let values = TrendValues::Unsigned { min: 1, avg: 1, max: 1 };
    let trend = Trend { item: ITEM, hour: NOW, num: 1, values };
    let now = RealClock::shared();
    let ahead: SharedClock = SimClock::at(now.unix() + Duration::from_secs(3600));
    let database = new_database();
    let before = stores_at(&database, &ahead);
    for (mut before, mut after) in before.into_iter().zip(stores_at(&database, &now)) {
        before.driver.write(&[unsigned(NOW, 1), unsigned(NOW + DAY, 2)]).unwrap();
        before.driver.write_trends(&[trend]).unwrap();
        after.driver.clear(&[ITEM]).unwrap();
        assert_eq!(all(&after, ITEM), [], "{}", after.name);
        let trends = after.driver.view(&[ITEM], Span::ALL).trends(ITEM).unwrap();
        assert_eq!(trends, [], "{}", after.name);
        // What comes later is new.
        after.driver.write(&[unsigned(NOW, 3)]).unwrap();
        assert_eq!(all(&after, ITEM), [unsigned(NOW, 3)], "{}", after.name);
    }
}

#[test]
fn values_of_many_days_ahead_take_no_room_from_those_of_today() {
    let has_partitions = |name: &str| [POSTGRESQL, MYSQL].contains(&name);
    let clock: SharedClock = SimClock::at(Duration::from_secs(NOW.into()));
    let stores = stores_at(&new_database(), &clock);
    for mut case in stores.into_iter().filter(|case| has_partitions(case.name)) {
        // Each of these needs a partition, and two where they have to meet.
        let ahead = (0..500).map(|n| unsigned(NOW + (100 + 2 * n) * DAY, 1));
        let refused = ahead.map(|sample| case.driver.write(&[sample])).find_map(Result::err);
        let refused = refused.unwrap();
        assert!(!refused.retry && refused.fault == Fault::Us, "{}: {refused}", case.name);
        // What is there has been looked up again.
        case.driver.write(&[unsigned(NOW + 1200 * DAY, 1)]).unwrap_err();
        for day in 0..8 {
            case.driver.write(&[unsigned(NOW + day * DAY, 2)]).unwrap();
            case.driver.write(&[unsigned(NOW - day * DAY, 2)]).unwrap();
        }
    }
}
