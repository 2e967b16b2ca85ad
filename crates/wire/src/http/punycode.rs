//! Names of hosts beyond ASCII: `bücher.example` → `xn--bcher-kva.example` (RFC 3492, RFC 5891).
//! Letters are made small; other foldings that registries know are not done.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_CODE: u32 = 0x80;
/// Bytes of a label as the name system has it.
const LABEL_MAX: usize = 63;

/// The ASCII form of a whole name; `None` = a label is too long.
pub(super) fn host(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len() + 8);
    for (number, label) in name.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).enumerate() {
        if number > 0 {
            out.push('.');
        }
        if label.is_ascii() {
            out.push_str(label);
        } else {
            let label = encode(&label.to_lowercase())?;
            out.push_str("xn--");
            out.push_str(&label);
        }
    }
    Some(out)
}

fn adapt(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

fn digit(value: u32) -> char {
    let byte = if value < 26 { b'a' } else { b'0' - 26 };
    char::from(byte + u8::try_from(value).unwrap_or_default())
}

fn encode(label: &str) -> Option<String> {
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let total = u32::try_from(label.chars().count()).ok()?;
    if total as usize > LABEL_MAX {
        return None;
    }
    let basic = u32::try_from(out.len()).ok()?;
    let mut handled = basic;
    if basic > 0 {
        out.push('-');
    }
    let (mut code, mut delta, mut bias) = (FIRST_CODE, 0_u32, FIRST_BIAS);
    while handled < total {
        let next = label.chars().map(u32::from).filter(|c| *c >= code).min()?;
        delta = delta.checked_add((next - code).checked_mul(handled + 1)?)?;
        code = next;
        for c in label.chars().map(u32::from) {
            if c < code {
                delta = delta.checked_add(1)?;
            }
            if c != code {
                continue;
            }
            let (mut q, mut k) = (delta, BASE);
            loop {
                let t = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
                if q < t {
                    break;
                }
                out.push(digit(t + (q - t) % (BASE - t)));
                q = (q - t) / (BASE - t);
                k += BASE;
            }
            out.push(digit(q));
            bias = adapt(delta, handled + 1, handled == basic);
            delta = 0;
            handled += 1;
        }
        delta += 1;
        code += 1;
    }
    (out.len() + 4 <= LABEL_MAX).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, ascii) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.Example", "xn--bcher-kva.Example"),
            ("münchen", "xn--mnchen-3ya"),
            ("bü_cher", "xn--b_cher-3ya"),
            // RFC 3492, section 7.1 (B) and (L).
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
        ] {
            assert_eq!(host(name).as_deref(), Some(ascii), "{name}");
        }
        assert_eq!(host(&"ü".repeat(64)), None);
    }
}
