//! Dashboards.

use crate::numbered::numbered;

numbered! {
    /// What the value of a widget's field is; the API's `type`.
    WidgetFieldType: u8 {
        /// A whole number of 32 bits.
        Integer = 0, "INTEGER", "Number";
        /// A text.
        Text = 1, "STRING", "Text";
        /// A host group.
        HostGroup = 2, "", "Host group";
        /// A host.
        Host = 3, "HOST", "Host";
        /// An item.
        Item = 4, "ITEM", "Item";
        /// An item prototype.
        ItemPrototype = 5, "ITEM_PROTOTYPE", "Item prototype";
        /// A graph.
        Graph = 6, "GRAPH", "Graph";
        /// A graph prototype.
        GraphPrototype = 7, "GRAPH_PROTOTYPE", "Graph prototype";
        /// A map.
        Map = 8, "MAP", "Map";
        /// A service.
        Service = 9, "SERVICE", "Service";
        /// An SLA.
        Sla = 10, "SLA", "SLA";
        /// A user.
        User = 11, "USER", "User";
        /// An action.
        Action = 12, "ACTION", "Action";
        /// A media type.
        MediaType = 13, "MEDIA_TYPE", "Media type";
    }
}

impl WidgetFieldType {
    /// Whether the value is the id of an object.
    pub const fn refers(self) -> bool {
        !matches!(self, Self::Integer | Self::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_refer_to_nothing() {
        let plain = WidgetFieldType::ALL.iter().filter(|kind| !kind.refers());
        assert_eq!(plain.map(|kind| kind.number()).collect::<Vec<_>>(), [0, 1]);
    }
}
