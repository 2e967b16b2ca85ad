//! What items, triggers, hosts and groups come from, and whether they are on.

use crate::numbered::numbered;

numbered! {
    /// Where an object comes from; the API's `flags`.
    Origin: u8 {
        /// A user created it, or a template.
        Plain = 0, "", "Plain";
        /// It is a low-level discovery rule.
        Rule = 1, "", "Discovery rule";
        /// It is a prototype, from which a discovery rule creates objects.
        Prototype = 2, "", "Prototype";
        /// Discovery created it.
        Discovered = 4, "", "Discovered";
    }
}

numbered! {
    /// Whether monitoring uses an object; the API's `status` of hosts, items, triggers and most others.
    Status: u8 {
        /// It does.
        Enabled = 0, "ENABLED", "Enabled";
        /// It does not.
        Disabled = 1, "DISABLED", "Disabled";
    }
}

numbered! {
    /// Whether an item can be collected, or a trigger evaluated; the API's `state`.
    State: u8 {
        /// It can.
        Normal = 0, "", "Normal";
        /// It cannot: `error` says why.
        NotSupported = 1, "", "Not supported";
    }
}

numbered! {
    /// Whether discovery creates objects of a prototype; the API's `discover`.
    Discover: u8 {
        /// It does.
        Yes = 0, "DISCOVER", "Discover";
        /// It does not.
        No = 1, "NO_DISCOVER", "Do not discover";
    }
}
