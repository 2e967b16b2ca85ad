//! Users.

use crate::numbered::numbered;

numbered! {
    /// What a user may do at most, lowest first; the API's `type` of roles.
    UserType: u8 {
        /// Looks at what the user's groups may read, and handles problems.
        User = 1, "", "User";
        /// Configures the hosts and templates that the user's groups may write.
        Admin = 2, "", "Admin";
        /// Configures everything.
        SuperAdmin = 3, "", "Super admin";
    }
}

numbered! {
    /// How a second factor is checked; the API's `type` of MFA methods.
    MfaType: u8 {
        /// Codes that change with the time.
        Totp = 1, "", "TOTP";
        /// The service of Duo.
        Duo = 2, "", "Duo";
    }
}
