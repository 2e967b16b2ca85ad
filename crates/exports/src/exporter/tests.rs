use std::path::Path;

use config::db::{Location, Value};
use config::{Edit, Statements, table};
use model::{SampleValue, Timestamp, TrendValues};
use stdx::clock::RealClock;

use super::*;
use crate::files::Kinds;

fn item(edit: &mut Edit<'_>, host: u64) -> DbResult<u64> {
    let row = [
        ("hostid", Value::from(host)),
        ("key_", "k".into()),
        ("name", "Load {$M}".into()),
        ("type", 2.into()),
        ("value_type", 3.into()),
    ];
    edit.insert_new(&table::ITEMS, &row)
}

fn event(state: &mut Statements<'_>, source: i64, value: i64) -> DbResult<u64> {
    let row = [("source", Value::from(source)), ("clock", 9.into()), ("value", value.into())];
    state.insert_new(&table::EVENTS, &row)
}

/// A problem with a tag that ended, and an event of another source.
fn events(state: &mut Statements<'_>) -> DbResult<(u64, u64)> {
    let problem = event(state, 0, 1)?;
    let tag = [("eventid", problem.into()), ("tag", "t".into()), ("value", "v".into())];
    state.insert_new(&table::EVENT_TAGS, &tag)?;
    event(state, 3, 1)?;
    let recovery = event(state, 0, 0)?;
    let row = [("eventid", Value::from(problem)), ("r_eventid", recovery.into())];
    state.insert(&table::PROBLEMS, &row)?;
    Ok((problem, recovery))
}

fn read(folder: &Path, kind: &str) -> String {
    let path = folder.join(format!("{kind}-history-syncer-1.ndjson"));
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn values_trends_and_new_events_reach_files() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    let config = Arc::new(Config::open(location).unwrap());
    let own = config.write(|edit| {
        let host = edit.insert_new(&table::HOSTS, &[("host", "h".into()), ("name", "H".into())])?;
        item(edit, host)
    });
    let own = own.unwrap_or_else(|error: DbError| panic!("{error}"));
    config.write_state(events).unwrap_or_else(|error: DbError| panic!("{error}"));
    let files = Files {
        folder: dir.path().to_owned(),
        bytes_max: 1 << 20,
        kinds: Kinds { events: true, history: true, trends: true },
    };
    let (clock, web) = (RealClock::shared(), WebFiles::default());
    let setup = Setup { config: Arc::clone(&config), clock, files: Some(files), web };
    let bell = Bell::default();
    let (tap, handle) = start(setup, &bell).unwrap();
    // A deleted item has no record.
    let sample = |item| Sample {
        item: ItemId(item),
        at: Timestamp { clock: 5, ns: 6 },
        value: SampleValue::Unsigned(7),
    };
    tap.to.try_send(Exported::Values(vec![sample(own), sample(own + 1)])).unwrap();
    let values = TrendValues::Unsigned { min: 1, avg: 2, max: 3 };
    let trend = Trend { item: ItemId(own), hour: 3_600, num: 4, values };
    tap.to.try_send(Exported::Trends(vec![trend])).unwrap();
    let made = config.write_state(events);
    let (problem, recovery) = made.unwrap_or_else(|error: DbError| panic!("{error}"));
    drop(tap);
    handle.end();
    let begin = format!(
        "{{\"host\":{{\"host\":\"h\",\"name\":\"H\"}},\"groups\":[],\"item_tags\":[],\
         \"itemid\":{own},\"name\":\"Load {{$M}}\""
    );
    let expected = format!("{begin},\"clock\":5,\"ns\":6,\"value\":7,\"type\":3}}\n");
    assert_eq!(read(dir.path(), "history"), expected);
    let expected =
        format!("{begin},\"clock\":3600,\"count\":4,\"min\":1,\"avg\":2,\"max\":3,\"type\":3}}\n");
    assert_eq!(read(dir.path(), "trends"), expected);
    let expected = format!(
        "{{\"clock\":9,\"ns\":0,\"value\":1,\"eventid\":{problem},\"name\":\"\",\"severity\":0,\
         \"hosts\":[],\"groups\":[],\"tags\":[{{\"tag\":\"t\",\"value\":\"v\"}}]}}\n\
         {{\"clock\":9,\"ns\":0,\"value\":0,\"eventid\":{recovery},\"p_eventid\":{problem}}}\n"
    );
    assert_eq!(read(dir.path(), "problems"), expected);
}
