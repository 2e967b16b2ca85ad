/** What other features may use of this one. */
export { HostPrototypes } from "./list";
