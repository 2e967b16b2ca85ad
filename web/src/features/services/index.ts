export { ServicePicker } from "./picker";
