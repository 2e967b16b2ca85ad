import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Owner } from "~/api/owners";

interface OwnerHeadingProps {
  owner: Owner;
  title: string;
  /** What lies between: a discovery rule. */
  children?: ReactNode;
}

const Slash = () => <span className="px-1.5 text-faint">/</span>;

/** The title of a page about a part of a host or template, with the way back. */
export function OwnerHeading({ owner, title, children }: OwnerHeadingProps) {
  const look = "text-soft hover:text-ink";
  return (
    <span className="truncate">
      {owner.template ? (
        <Link to="/templates/$templateid" params={{ templateid: owner.id }} className={look}>
          {owner.name}
        </Link>
      ) : (
        <Link to="/hosts/$hostid" params={{ hostid: owner.id }} className={look}>
          {owner.name}
        </Link>
      )}
      <Slash />
      {children && (
        <>
          {children}
          <Slash />
        </>
      )}
      {title}
    </span>
  );
}

type Part = "latest" | "triggers" | "discovery" | "web" | "valuemaps";

/** Goes back to the list of a host's or template's parts. */
export function useLeave(): (owner: Owner, part: Part) => void {
  const navigate = useNavigate();
  return (owner, part) => {
    if (owner.template) {
      const tab = part === "latest" ? undefined : part;
      void navigate({
        to: "/templates/$templateid",
        params: { templateid: owner.id },
        search: { tab },
      });
    } else {
      void navigate({ to: "/hosts/$hostid", params: { hostid: owner.id }, search: { tab: part } });
    }
  };
}
