//! The vSphere Web Services API: what collection asks a vCenter or an ESXi host, and what it makes
//! of the answers. SOAP 1.1 over HTTP; facts: VMware's "vSphere Web Services API Reference" and
//! "vSphere Web Services SDK Programming Guide".
//!
//! * [`Node`]: an answer's XML; [`answer`] reads the body of an envelope, or its fault.
//! * [`request`]: envelopes of the methods that are used.
//! * [`property`]: objects with the properties that were asked for.
//! * [`perf`]: performance counters and their newest values.
//! * [`event`]: events, by pages of a collector.
//!
//! Nothing here sends or waits.

pub mod event;
mod json;
mod node;
pub mod perf;
pub mod property;
pub mod request;

pub use node::{DEPTH_MAX, NODES_MAX, Node};

/// Why an answer brings nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VmwareError {
    /// The service refuses the request, in its own words.
    #[error("{text}")]
    Fault {
        /// `faultstring`, or what there is in its place.
        text: String,
        /// Local name of the fault's type, `InvalidLogin`; empty = unknown.
        kind: String,
    },
    /// It is no answer of this protocol.
    #[error("the response is not a SOAP message: {0}")]
    Invalid(String),
    /// It has more elements than any answer needs.
    #[error("the response is too large")]
    TooLarge,
}

/// A managed object: its type and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Reference {
    /// `HostSystem`, …
    pub kind: Box<str>,
    /// `host-22`
    pub id: Box<str>,
}

impl Reference {
    /// An object of this type and id.
    pub fn new(kind: &str, id: &str) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }

    /// The object that an element names.
    pub fn of(node: &Node) -> Self {
        Self { kind: node.kind.clone(), id: node.text.clone() }
    }
}

/// The element of the answer to a method: `…Response`.
pub fn answer(text: &str) -> Result<Node, VmwareError> {
    let missing = |what: &str| VmwareError::Invalid(format!("there is no {what}"));
    let mut envelope = Node::parse(text)?;
    if &*envelope.name != "Envelope" {
        return Err(missing("envelope"));
    }
    let body = envelope.children.iter_mut().find(|child| &*child.name == "Body");
    let body = body.ok_or_else(|| missing("body"))?;
    if body.children.is_empty() {
        return Err(missing("answer"));
    }
    let first = body.children.swap_remove(0);
    if &*first.name != "Fault" {
        return Ok(first);
    }
    let detail = first.child("detail").and_then(|detail| detail.children.first());
    let kind = detail.map_or("", |fault| match &*fault.kind {
        "" => fault.name.trim_end_matches("Fault"),
        kind => kind,
    });
    let text = match (first.text_at("faultstring"), detail) {
        ("", None) => "The service refuses the request.".to_owned(),
        // Services leave the text out where the type says all: `InvalidPropertyFault:name`.
        ("", Some(fault)) => {
            let what = fault.children.first().unwrap_or(fault);
            format!("{}:{}", fault.name, what.text).trim_end_matches(':').to_owned()
        }
        (text, _) => text.to_owned(),
    };
    Err(VmwareError::Fault { text, kind: kind.to_owned() })
}

/// The service's own objects, from `RetrieveServiceContent`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Service {
    /// `VMware vCenter Server 6.5.0 build-5973321`
    pub full_name: String,
    /// As in `6.5.0`.
    pub version: String,
    /// `VirtualCenter` or `HostAgent`.
    pub api_type: String,
    /// The folder that everything is in.
    pub root_folder: Reference,
    /// Who gives properties.
    pub property_collector: Reference,
    /// Who makes lists of objects.
    pub view_manager: Reference,
    /// Who knows sessions.
    pub session_manager: Reference,
    /// Who has performance counters.
    pub perf_manager: Reference,
    /// Who has events.
    pub event_manager: Reference,
}

impl Service {
    /// A vCenter, not a host by itself.
    pub fn is_vcenter(&self) -> bool {
        self.api_type == "VirtualCenter"
    }

    /// Reads the answer to `RetrieveServiceContent`.
    pub fn parse(answer: &Node) -> Result<Self, VmwareError> {
        let content = answer.child("returnval");
        let content = content.ok_or_else(|| VmwareError::Invalid("no content".to_owned()))?;
        let object = |name: &str| content.child(name).map(Reference::of).unwrap_or_default();
        Ok(Self {
            full_name: content.text_at("about.fullName").to_owned(),
            version: content.text_at("about.version").to_owned(),
            api_type: content.text_at("about.apiType").to_owned(),
            root_folder: object("rootFolder"),
            property_collector: object("propertyCollector"),
            view_manager: object("viewManager"),
            session_manager: object("sessionManager"),
            perf_manager: object("perfManager"),
            event_manager: object("eventManager"),
        })
    }
}

/// The object that a method returns.
pub fn returned(answer: &Node) -> Result<Reference, VmwareError> {
    let value = answer.child("returnval").map(Reference::of);
    value.ok_or_else(|| VmwareError::Invalid("no object".to_owned()))
}

#[cfg(test)]
mod tests;
