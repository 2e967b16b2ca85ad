/** What other features may use of this one. */
export { MassChangeButton } from "./button";
