//! What the program does when a part of it ends that it cannot work without.

/// Ends the process when it can no longer do its work: it must not accept values and requests that
/// nothing serves. The next start recovers as after a crash.
pub(crate) fn end(failure: &stdx::thread::Failure) {
    let stdx::thread::Failure { thread, reason } = failure;
    tracing::error!(
        thread,
        "the thread \"{thread}\" ended unexpectedly: {reason}; the server stops, start it again \
         and report this error with the log above"
    );
    std::process::exit(1);
}

/// Ends the engine of the load balancer when one of its threads ends: the others would not accept its
/// connections.
pub(crate) fn end_engine(failure: &stdx::thread::Failure) {
    let stdx::thread::Failure { thread, reason } = failure;
    tracing::error!(
        thread,
        "the thread \"{thread}\" ended unexpectedly: {reason}; the engine stops, start it again \
         and report this error with the log above"
    );
    std::process::exit(1);
}

/// Resolves with an error when a task that serves requests or looks after the server ends.
pub(crate) async fn of_tasks(
    http: &mut tokio::task::JoinHandle<std::io::Result<()>>,
    tasks: &mut tokio::task::JoinSet<()>,
) -> String {
    loop {
        tokio::select! {
            ended = &mut *http => match ended {
                Ok(Ok(())) => return String::from("the HTTP server ended"),
                Ok(Err(error)) => return format!("the HTTP server ended: {error}"),
                Err(error) => return error.to_string(),
            },
            Some(ended) = tasks.join_next() => if let Err(error) = ended {
                return error.to_string();
            },
        }
    }
}
