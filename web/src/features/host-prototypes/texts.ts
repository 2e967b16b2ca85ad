/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  editHostPrototype: "Edit host prototype",
  interfaces: "Interfaces",
  inherit: "Inherit",
  custom: "Custom",
  discoveredHostsGetThe: "Discovered hosts get the interfaces of the host of the discovery rule.",
  hostPrototype: "host prototype",
  state: "State",
  discoverHosts: "Discover hosts",
  createEnabled: "Create enabled",
  hosts: "Hosts",
  mustContainADiscovery: "Must contain a discovery macro, such as {#NAME}",
  groupPrototypes: "Group prototypes",
  onePerLineWith:
    "One per line, with discovery macros, such as Datacenters/{#DATACENTER}. If you change a line, its discovered groups are renamed. If you remove it, they are deleted.",
  inventory: "Inventory",
  tags: "Tags",
  macros: "Macros",
  noHostPrototypes: "No host prototypes",
  hostPrototypesCreateHosts:
    "Host prototypes create hosts for discovered entities, such as virtual machines.",
  fromATemplate: "from a template",
  editName: (name: string) => `Edit ${name}`,
} as const;
