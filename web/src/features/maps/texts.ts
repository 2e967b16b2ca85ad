/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  maps: "Maps",
  map: "Map",
  mapWord: "map",
  thisMapDoesNot: "This map does not exist",
  mapsShow:
    "A map shows hosts, host groups and triggers on a plane, with their problems. Create maps through the API or import them; this page shows them.",
  searchMaps: "Search maps",
  name: "Name",
  size: "Size",
  picture: (name: string) => `Map ${name}`,
  element: (name: string, state: string) => `${name}: ${state}`,
  notVisible: "Not visible to you",
  unknown: "Unknown",
  noProblems: "No problems",
  problem: "Problem",
  openMap: "Open the map to see its state",
  noHosts: "No hosts",
  more: (count: number) => `${count} problems`,
} as const;
