//! What a process is: a role is a list of parts.

pub(crate) mod agent;
pub(crate) mod engine;
pub(crate) mod server;

/// Resolves when the process is asked to stop.
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}
