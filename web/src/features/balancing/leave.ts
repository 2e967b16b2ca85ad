import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Vip } from "~/api/balancing";
import type { Kind } from "./kinds";

/** Goes from a form to its list, which is read again. */
export function useLeave(kind: Kind) {
  const navigate = useNavigate();
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: ["balancing"] });
    void navigate({ to: `/balancing/${kind}` });
  };
}

/** The addresses of a VIP. */
export const addressWords = (vip: Pick<Vip, "ipv4" | "ipv6">) =>
  [vip.ipv4, vip.ipv6].filter(Boolean).join(", ");

/** Address and port, as in a URL. */
export const withPort = (address: string, port: string) =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
