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
