//! Runs the agent alone: `cargo run -p agent --example agent -- 127.0.0.1:10050 NAME [SERVER]`.

use stdx::clock::RealClock;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let listen = args.next().ok_or("address to listen on is missing")?.parse()?;
    let hostname = args.next().ok_or("host name is missing")?;
    let servers = args.map(|server| vec![server]).collect();
    let config = agent::AgentConfig {
        listen: vec![listen],
        hostnames: vec![hostname],
        active: agent::ActiveConfig { servers, ..agent::ActiveConfig::default() },
        ..agent::AgentConfig::default()
    };
    let agent = agent::Agent::new(config, RealClock::shared())?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listeners = agent.bind()?;
        agent.run(listeners).await;
        Ok(())
    })
}
