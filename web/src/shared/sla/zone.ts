import { useQuery } from "@tanstack/react-query";
import { serverZoneQuery } from "~/api/zone";

/** The time zone of an agreement: its own, or the server's; empty: that of the browser. */
export function useSlaZone(sla: { timezone: string } | undefined): string | undefined {
  const { data: zone } = useQuery(serverZoneQuery());
  return sla?.timezone === "system" ? zone : sla?.timezone;
}
