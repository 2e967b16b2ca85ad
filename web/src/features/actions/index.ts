/** What other features may use of this one. */
export { useConditionNames } from "./names";
