//! Ids as the API shows them: positive 64-bit numbers, decimal strings in JSON.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub u64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<u64> for $name {
            fn from(id: u64) -> Self {
                Self(id)
            }
        }
    )+};
}

ids! {
    /// A host or a template: they share one id space.
    HostId,
    /// A host group or a template group: they share one id space.
    GroupId,
    /// An item, an item prototype or a discovery rule: they share one id space.
    ItemId,
    /// An interface of a host.
    InterfaceId,
    /// A trigger or a trigger prototype.
    TriggerId,
    /// A function call in a trigger's expression.
    FunctionId,
    /// An event; a problem is known by the id of the event that opened it.
    EventId,
    /// A user.
    UserId,
}
