//! Hosts and groups.

use crate::numbered::numbered;

numbered! {
    /// What a row of the table of hosts is: its column `kind`.
    HostKind: u8 {
        /// A host.
        Host = 0, "", "Host";
        /// A template.
        Template = 1, "", "Template";
        /// A host prototype of a discovery rule.
        Prototype = 2, "", "Host prototype";
    }
}

numbered! {
    /// What a group contains: the column `type` of groups.
    GroupKind: u8 {
        /// Hosts.
        Hosts = 0, "", "Host group";
        /// Templates.
        Templates = 1, "", "Template group";
    }
}

numbered! {
    /// How a host's inventory is filled; the API's `inventory_mode`.
    InventoryMode: i8 {
        /// The host has no inventory.
        Disabled = -1, "DISABLED", "Disabled";
        /// By users.
        Manual = 0, "MANUAL", "Manual";
        /// By values of items, too.
        Automatic = 1, "AUTOMATIC", "Automatic";
    }
}

numbered! {
    /// What collects the values of a host; the API's `monitored_by`.
    MonitoredBy: u8 {
        /// The server.
        Server = 0, "SERVER", "Server";
        /// One proxy.
        Proxy = 1, "PROXY", "Proxy";
        /// A proxy that a proxy group assigns.
        ProxyGroup = 2, "PROXY_GROUP", "Proxy group";
    }
}

numbered! {
    /// How a macro's value is stored and shown; the API's `type` of macros.
    MacroType: u8 {
        /// Everybody who sees the macro sees its value.
        Text = 0, "TEXT", "Text";
        /// The API never shows its value.
        Secret = 1, "SECRET_TEXT", "Secret text";
        /// The value is a path in a vault.
        Vault = 2, "VAULT", "Vault secret";
    }
}
