//! What browsers may do with our answers.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;

/// All that the UI loads comes from here, but for images of maps, which it gets from the API; it has no inline scripts and sets styles through the
/// style objects of elements, which the policy allows. Pages of the same origin may frame it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'self'";

const POLICIES: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // For browsers that do not know frame-ancestors.
    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    // Addresses carry filters with names of hosts: they are nobody else's business.
    (header::REFERRER_POLICY, "same-origin"),
];

/// Adds the headers to any answer.
pub(super) async fn apply(mut answer: Response) -> Response {
    add(answer.headers_mut());
    answer
}

fn add(headers: &mut HeaderMap) {
    for (name, value) in POLICIES {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_says_what_browsers_may_do() {
        let mut headers = HeaderMap::new();
        add(&mut headers);
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        let directives: Vec<_> = policy.split("; ").map(str::trim).collect();
        assert!(directives.contains(&"default-src 'self'"), "{policy}");
        assert!(directives.contains(&"img-src 'self' data:"), "{policy}");
        assert!(directives.contains(&"frame-ancestors 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(headers[header::REFERRER_POLICY], "same-origin");
        assert_eq!(headers[header::X_FRAME_OPTIONS], "SAMEORIGIN");
    }
}
