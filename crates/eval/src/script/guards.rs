//! What the methods of scripts may do in one call. An engine has tens of milliseconds for it.

use sandbox::Work;

/// Limits that no script of the field's templates comes near.
pub(super) const WORK: Work = Work {
    elements: 1_000_000,
    compared: 200_000_000,
    pattern: 10_000,
    normalized: 20_000,
    prefixed: 10_000,
    compares: false,
};

/// Whether a script may work with numbers of any length: operators on them are loops of the engine
/// that nothing guards. They are bounded to 1,048,576 bits, for which a division takes a second.
pub(crate) fn may_use_big_numbers(source: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Words that make a script of a text, which may hold such numbers.
    ["BigInt", "eval", "Function", "constructor"].iter().any(|word| source.contains(word))
        || source
            .split(|c| !part(c))
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_with_big_numbers_are_recognized() {
        for (source, may) in [
            ("return value * 2", false),
            ("var n = 1; return n", false),
            ("return x1n", false),
            ("return 1n", true),
            ("return 0xFFn+a", true),
            ("return BigInt(value)", true),
            ("return eval(value)", true),
        ] {
            assert_eq!(may_use_big_numbers(source), may, "{source}");
        }
    }
}
