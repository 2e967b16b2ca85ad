export { HostDashboards } from "./of-host";
