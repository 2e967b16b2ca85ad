/** How the inventory of a host is filled. */
export const INVENTORY_MODES = [
  ["-1", "disabled"],
  ["0", "manual"],
  ["1", "automatic"],
] as const;
