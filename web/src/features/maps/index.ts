export { MapView } from "./view";
