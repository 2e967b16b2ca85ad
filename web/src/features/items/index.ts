/** What other features may use of this one. */
export { ItemForm } from "./form";
