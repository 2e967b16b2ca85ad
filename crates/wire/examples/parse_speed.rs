//! How many values per second and core the sender's request is parsed at.
//! Run with `cargo run --release -p wire --example parse_speed`.

use std::io::Write;

use wire::{Moment, sender};

const VALUES: usize = 250;
const ROUNDS: usize = 8_000;

#[expect(clippy::disallowed_methods, reason = "a measurement needs the machine's clock")]
fn main() -> std::io::Result<()> {
    let row = |i: usize| {
        format!(
            "{{\"host\":\"host{:05}\",\"key\":\"item.key[{i}]\",\"value\":\"{}.5\",\
             \"clock\":1700000000,\"ns\":{i}}}",
            i % 100,
            i * 7
        )
    };
    let rows: Vec<String> = (0..VALUES).map(row).collect();
    let text = format!("{{\"request\":\"sender data\",\"data\":[{}]}}", rows.join(","));
    let start = std::time::Instant::now();
    let mut total = 0;
    for _ in 0..ROUNDS {
        let data = sender::parse_sender_data(std::hint::black_box(&text), Moment::default())
            .map_err(std::io::Error::other)?;
        total += std::hint::black_box(data).readings.rows.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        std::io::stdout(),
        "{total} values of {} bytes in {seconds:.3} s: {:.2} million/s",
        text.len() / VALUES,
        total as f64 / seconds / 1e6
    )
}
