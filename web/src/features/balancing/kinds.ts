/** The lists, as their addresses name them. */
export type Kind =
  | "services"
  | "pools"
  | "pool-groups"
  | "health-monitors"
  | "vips"
  | "certificates"
  | "engine-groups";
