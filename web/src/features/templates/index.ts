/** What other features may use of this one. */
export { ImportDialog } from "./import-dialog";
