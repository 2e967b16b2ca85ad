//! Random lives of the whole chain from values to messages, each decided by one seed: findings, events and problems, updates
//! by users, escalations, alerts, attempts.
//!
//! Real are the writer of findings and problems, the watch of maintenances, the configuration with its deletions, the
//! escalator and the database layer with SQLite. Simulated are the [machine](machine) below them (clocks, disk, the moment of
//! a crash), the [shard](shard) above them, the [receivers](receivers) behind the media, users and administrators. All of it
//! runs in one thread, in the order that the seed decides. After each step the database is compared with a
//! [model](model) of escalations and messages and with the [truth](truth) about problems. If a step fails or the process
//! dies in it, the database must have the state from before or after one of its transactions.
//!
//! Not simulated: power cuts, groups and limits of messages, calm alerting, commands, on-call schedules, correlation.
//!
//! `cargo test -p actions --lib escalator::simulation` runs 50 seeds. `SEEDS=2000` runs as many, from `SEED` on (default: 1).
//! A failure names its seed and its last steps: `SEED=N SEEDS=1` repeats it, `TRACE=1000` shows as many of its last steps.

mod change;
mod dues;
mod estate;
mod life;
mod machine;
mod model;
mod receivers;
mod seen;
mod server;
mod shard;
mod truth;
mod world;

use receivers::Tally;
use world::World;

use crate::escalation::simulation::given;

/// Runs a seed; a panic is a failure like any other.
fn run(seed: u64) -> Result<Tally, String> {
    let mut world = World::new(seed);
    let unwind = std::panic::AssertUnwindSafe(&mut world);
    let ran = std::panic::catch_unwind(|| { unwind }.run());
    ran.unwrap_or_else(|_| Err("panicked, see above".to_owned())).map_err(|what| {
        let steps = usize::try_from(given("TRACE").unwrap_or(25)).unwrap();
        let last = &world.trace[world.trace.len().saturating_sub(steps)..];
        format!("seed {seed}:\n{}\n{what}\n", last.join("\n"))
    })
}

#[test]
fn messages_survive_crashes_faults_and_changes() {
    let (first, count) = (given("SEED").unwrap_or(1), given("SEEDS").unwrap_or(50));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let part = move |thread: usize| (first..first + count).skip(thread).step_by(threads);
        let threads: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || part(thread).map(run).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let failures: Vec<&String> =
        results.iter().filter_map(|result| result.as_ref().err()).collect();
    let shown: String = failures.iter().take(5).map(|text| text.as_str()).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} seeds fail, the first of them:\n{shown}",
        failures.len()
    );
    let sum = |of: fn(&Tally) -> u64| results.iter().flatten().map(of).sum::<u64>();
    let all = [
        ("problems", sum(|tally| tally.problems)),
        ("messages", sum(|tally| tally.messages)),
        ("attempts that failed", sum(|tally| tally.failures)),
        ("messages that are uncertain", sum(|tally| tally.uncertain)),
        ("messages that were recognised", sum(|tally| tally.recognised)),
        ("starts", sum(|tally| tally.starts)),
        ("cancellations", sum(|tally| tally.cancelled)),
        ("faults of the disk", sum(|tally| tally.faults)),
    ];
    println!("{count} seeds: {all:?}");
    if count >= 50 {
        assert!(all.iter().all(|(_, n)| *n * 10 > count), "the lives are too quiet: {all:?}");
    }
}

#[test]
fn a_seed_is_the_same_every_time() {
    assert_eq!(run(1), run(1));
}
