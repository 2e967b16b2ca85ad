//! Names of header fields as gateways see them, which make variables of them.

/// Whether servers may take both names for the same: gateways make one variable of `-` and `_`.
pub(crate) fn same_variable(own: &[u8], other: &[u8]) -> bool {
    let same = |(own, other): (&u8, &u8)| {
        own.eq_ignore_ascii_case(other)
            || (matches!(own, b'-' | b'_') && matches!(other, b'-' | b'_'))
    };
    own.len() == other.len() && own.iter().zip(other).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_and_underscores_are_one_variable() {
        for name in ["X-User", "x-user", "x_user", "X_USER"] {
            assert!(same_variable(b"X-User", name.as_bytes()), "{name}");
        }
        for name in ["X-Use", "X-Users", "X.User"] {
            assert!(!same_variable(b"X-User", name.as_bytes()), "{name}");
        }
    }
}
