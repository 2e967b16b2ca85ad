/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  searchNamesAndKeys: "Search names and keys",
  tags: "Tags",
  tagsComponentCpu: "Tags: component=cpu",
  state: "State",
  all: "All",
  supported: "Supported",
  notSupported: "Not supported",
  latestData: "Latest data",
  showGraph: "Show graph",
  deselect: "Deselect",
  item: "item",
  goToHosts: "Go to hosts",
  linkATemplateTo: "Link a template to a host, and its values appear here.",
} as const;
