import { Link } from "@tanstack/react-router";

/** The name of a host, which opens its page. */
export function HostLink({ hostid, name }: { hostid: string; name: string | undefined }) {
  return (
    <Link to="/hosts/$hostid" params={{ hostid }} className="hover:underline">
      {name}
    </Link>
  );
}
