//! Maps.

use crate::numbered::numbered;

numbered! {
    /// What an element of a map shows; the API's `elementtype`.
    MapElementType: u8 {
        /// A host.
        Host = 0, "", "Host";
        /// Another map.
        Map = 1, "", "Map";
        /// Triggers.
        Trigger = 2, "", "Trigger";
        /// A host group.
        HostGroup = 3, "", "Host group";
        /// An image.
        Image = 4, "", "Image";
    }
}

impl MapElementType {
    /// The member of the API with the id of what it shows; an image has none.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Host => Some("hostid"),
            Self::Map => Some("sysmapid"),
            Self::Trigger => Some("triggerid"),
            Self::HostGroup => Some("groupid"),
            Self::Image => None,
        }
    }

    /// As it stands in names of fields: `label_type_host`.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Map => "map",
            Self::Trigger => "trigger",
            Self::HostGroup => "hostgroup",
            Self::Image => "image",
        }
    }
}

numbered! {
    /// What the label of an element shows; the API's `label_type`.
    MapLabelType: u8 {
        /// Its own label.
        Label = 0, "", "Label";
        /// The address of its host.
        Address = 1, "", "IP address";
        /// The name of what it shows.
        Name = 2, "", "Element name";
        /// Its status.
        Status = 3, "", "Status only";
        /// Nothing.
        Nothing = 4, "", "Nothing";
        /// A text of the map.
        Custom = 5, "", "Custom label";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_show_no_other_object() {
        let without = MapElementType::ALL.iter().filter(|kind| kind.key().is_none());
        assert_eq!(without.collect::<Vec<_>>(), [&MapElementType::Image]);
        assert_eq!(MapLabelType::NUMBERS, [0, 1, 2, 3, 4, 5]);
    }
}
