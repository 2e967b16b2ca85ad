//! IPMI credentials and authentication types.

use super::crypto::{NAME_BYTES, SUITES, Signature, Suite};

/// The privilege that every session begins with.
pub(super) const USER: u8 = 2;

/// Authentication type. The numbers are those of the API's `ipmi_authtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AuthType {
    /// The best that the device offers; never a password that others can read, and no proof at all
    /// only where there is no password.
    #[default]
    Default,
    /// No proof.
    None,
    /// Version 1.5, MD2.
    Md2,
    /// Version 1.5, MD5.
    Md5,
    /// Version 1.5, the password as it is.
    Straight,
    /// A way of the vendor's own.
    Oem,
    /// Version 2.0.
    RmcpPlus,
}

impl AuthType {
    /// By the API's number: -1, 0, 1, 2, 4, 5, 6.
    pub const fn from_api(number: i64) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Md2,
            2 => Self::Md5,
            4 => Self::Straight,
            5 => Self::Oem,
            6 => Self::RmcpPlus,
            _ => Self::Default,
        }
    }
}

/// Credentials for a device.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Login {
    /// How to prove it.
    pub auth: AuthType,
    /// 1 callback, 2 user, 3 operator, 4 administrator, 5 the vendor's own.
    pub privilege: u8,
    /// Name; the first 16 octets count.
    pub username: String,
    /// Password; the first 20 octets count (16 in version 1.5).
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Login({:?}, {}, {:?})", self.auth, self.privilege, self.username)
    }
}

impl Login {
    pub(super) fn name(&self) -> &[u8] {
        let name = self.username.as_bytes();
        &name[..name.len().min(NAME_BYTES)]
    }

    pub(super) fn privilege(&self) -> u8 {
        if self.privilege == 0 { USER } else { self.privilege }
    }

    pub(super) fn signatures(&self) -> &'static [Signature] {
        match self.auth {
            AuthType::None => &[Signature::None],
            AuthType::Md2 => &[Signature::Md2],
            AuthType::Md5 => &[Signature::Md5],
            AuthType::Straight => &[Signature::Straight],
            AuthType::Default if self.password.is_empty() => {
                &[Signature::Md5, Signature::Md2, Signature::None]
            }
            AuthType::Default => &[Signature::Md5, Signature::Md2],
            AuthType::Oem | AuthType::RmcpPlus => &[],
        }
    }

    /// The suites to try. Proving nothing is right only where there is nothing to prove.
    pub(super) fn suites(&self) -> &'static [Suite] {
        if self.password.is_empty() { &SUITES } else { &SUITES[..SUITES.len() - 1] }
    }
}
