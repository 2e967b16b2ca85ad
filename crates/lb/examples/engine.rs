//! The engine alone, for measurements: `engine CONFIG`.

use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let file = PathBuf::from(std::env::args_os().next_back().unwrap_or_default());
    let (beginning, drain) = Default::default();
    lb::run(
        &lb::Service { file, beginning, drain, control: None },
        &stdx::clock::RealClock::shared(),
    )
}
