//! What was read of a service: its objects with their properties, and values of counters.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use wire::vmware::perf::Counters;
use wire::vmware::property::Object;
use wire::vmware::request::Wanted;
use wire::vmware::{self, Node, Reference};

use super::keys::Scope;
use super::link::{Link, LinkError};

/// Something that is read because an item asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wish {
    /// A counter `group/name[rollup]` of all objects of a kind.
    Counter(Scope, String),
    /// A property of all objects of a kind.
    Property(Scope, String),
}

/// Values of one counter of one object by instance.
pub(super) type Values = Vec<(Box<str>, i64)>;

/// A network card of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nic {
    /// The element `device`.
    pub(super) device: Node,
}

/// A disk of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    /// `scsi0:1`
    pub(super) name: String,
    pub(super) label: String,
}

/// A snapshot of the service. It never changes.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) service: vmware::Service,
    /// In the service's order.
    pub(super) order: Vec<Reference>,
    pub(super) objects: HashMap<Reference, Object>,
    /// Objects by scope and the name that items have for them.
    named: HashMap<(Scope, Box<str>), Reference>,
    /// Network cards and disks of machines.
    pub(super) devices: HashMap<Reference, (Vec<Nic>, Vec<Disk>)>,
    /// Definitions of the alarms that are on.
    pub(super) alarms: HashMap<Reference, Object>,
    /// Alarms that are on anywhere.
    pub(super) triggered: Vec<Node>,
    pub(super) counters: Arc<Counters>,
    pub(super) perf: HashMap<(Reference, u32), Values>,
    /// What this reading was asked for.
    pub(super) wishes: BTreeSet<Wish>,
    /// What the service refused of that, and why.
    pub(super) refused: HashMap<Wish, String>,
}

/// The last part of a datastore's URL, `ds:///vmfs/volumes/54c59569-8ab/`.
pub(super) fn datastore_uuid(store: &Object) -> &str {
    let url = store.text("summary.url").trim_end_matches('/');
    url.rsplit('/').next().unwrap_or_default()
}

impl Model {
    /// Finds the names of the objects.
    pub(super) fn index(&mut self) {
        for (reference, object) in &self.objects {
            let mut name = |scope: Scope, name: &str| {
                if !name.is_empty() {
                    self.named.insert((scope, name.into()), reference.clone());
                }
            };
            match &*reference.kind {
                "HostSystem" => name(Scope::Host, object.text("summary.hardware.uuid")),
                "VirtualMachine" => name(Scope::Machine, object.text("config.instanceUuid")),
                "Datastore" => name(Scope::Datastore, datastore_uuid(object)),
                "ClusterComputeResource" => name(Scope::Cluster, &reference.id),
                "Datacenter" => name(Scope::Datacenter, &reference.id),
                "ResourcePool" | "VirtualApp" => name(Scope::Pool, &reference.id),
                _ => {}
            }
        }
    }

    /// Adds properties to the objects that are known.
    pub(super) fn extend(&mut self, found: Vec<Object>) {
        for found in found {
            if let Some(known) = self.objects.get_mut(&found.reference) {
                known.properties.extend(found.properties);
            }
        }
    }

    /// The object that items name so.
    pub(super) fn find(&self, scope: Scope, name: &str) -> Option<&Object> {
        self.objects.get(self.named.get(&(scope, name.into()))?)
    }

    /// All objects of a type, in the service's order.
    pub(super) fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Object> {
        let of_kind = self.order.iter().filter(move |reference| &*reference.kind == kind);
        of_kind.filter_map(|reference| self.objects.get(reference))
    }

    /// A datastore by its name or its UUID.
    pub(super) fn datastore(&self, name: &str) -> Option<&Object> {
        let by_name = || self.all("Datastore").find(|store| store.text("name") == name);
        self.find(Scope::Datastore, name).or_else(by_name)
    }

    /// The object that a property of another one names.
    pub(super) fn of(&self, object: &Object, path: &str) -> Option<&Object> {
        self.objects.get(&object.reference(path)?)
    }

    /// The objects of a property that is a list of references.
    pub(super) fn each<'a>(
        &'a self,
        object: &'a Object,
        path: &str,
    ) -> impl Iterator<Item = &'a Object> {
        object.list(path).iter().filter_map(|node| self.objects.get(&Reference::of(node)))
    }

    /// The objects that an object is in, from the next one upwards.
    pub(super) fn above<'a>(&'a self, object: &'a Object) -> impl Iterator<Item = &'a Object> {
        /// Deeper than any inventory; ends a circle.
        const LEVELS_MAX: usize = 100;
        std::iter::successors(self.of(object, "parent"), |one| self.of(one, "parent"))
            .take(LEVELS_MAX)
    }

    /// The name of the first object of a type above an object; an empty one where there is none.
    pub(super) fn name_above<'a>(&'a self, object: &'a Object, kind: &str) -> &'a str {
        let found = self.above(object).find(|one| &*one.reference.kind == kind);
        found.map_or("", |one| one.text("name"))
    }
}

/// A property of one of the service's own objects, as a list.
pub(super) async fn manager(
    link: &mut Link,
    service: &vmware::Service,
    object: &Reference,
    path: &str,
) -> Result<Vec<Node>, LinkError> {
    let wanted = Wanted { kind: &object.kind, paths: &[path] };
    let mut found = link.some(service, std::slice::from_ref(object), &wanted).await?;
    let first = found.first_mut().and_then(|object| object.properties.remove(path));
    Ok(first.map(|node| node.children).unwrap_or_default())
}

/// The number of snapshots of a machine.
pub(super) fn snapshot_count(vm: &Object) -> usize {
    let mut list = Vec::new();
    snapshots(vm.list("snapshot"), &mut list);
    list.len()
}

/// All snapshots below, parents first. The depth is bounded by the document's.
pub(super) fn snapshots<'a>(nodes: &'a [Node], list: &mut Vec<&'a Node>) {
    for node in nodes {
        match &*node.name {
            "rootSnapshotList" | "childSnapshotList" => {
                list.push(node);
                snapshots(&node.children, list);
            }
            _ => {}
        }
    }
}
