/** How the inventory of a host is filled. */
export const INVENTORY_MODES = [
  ["-1", "disabled"],
  ["0", "filled by hand"],
  ["1", "filled automatically"],
] as const;
