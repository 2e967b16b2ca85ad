//! Failures as gRPC says them.

use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};
use wire::history_service::{Failure, Reason};

/// The status of a failure, with reason, fault and whether to retry as trailers.
pub(crate) fn status(failure: &Failure) -> Status {
    let code = match failure.reason() {
        Reason::Invalid => Code::InvalidArgument,
        Reason::NotSignedIn => Code::Unauthenticated,
        Reason::Denied => Code::PermissionDenied,
        Reason::NoItem => Code::NotFound,
        Reason::WrongType | Reason::Disabled | Reason::NotAllowedHere => Code::FailedPrecondition,
        Reason::NoCall => Code::Unimplemented,
        Reason::Busy => Code::ResourceExhausted,
        Reason::NotKept | Reason::NotRead | Reason::Stopping => Code::Unavailable,
        Reason::Internal => Code::Internal,
    };
    let mut trailers = MetadataMap::new();
    let retry = if failure.retry { "true" } else { "false" };
    for (name, text) in [
        ("vedette-reason", failure.reason.as_str()),
        ("vedette-fault", failure.fault.as_str()),
        ("vedette-retry", retry),
    ] {
        if let Ok(value) = MetadataValue::try_from(text) {
            trailers.insert(name, value);
        }
    }
    Status::with_metadata(code, failure.message.clone(), trailers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_carries_the_reason_of_the_failure() {
        for reason in Reason::ALL {
            let failure = reason.with("why");
            let status = status(&failure);
            assert_eq!(status.message(), "why");
            let told = |name: &str| status.metadata().get(name).unwrap().to_str().unwrap();
            assert_eq!(told("vedette-reason"), reason.name());
            assert_eq!(told("vedette-fault"), failure.fault);
            assert_eq!(told("vedette-retry"), failure.retry.to_string());
            // What clients' libraries try again by themselves has to be worth it.
            let again = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
            assert_eq!(again, failure.retry, "{reason:?}");
        }
    }
}
