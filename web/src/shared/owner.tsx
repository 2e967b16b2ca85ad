import { Link, useNavigate } from "@tanstack/react-router";
import type { Owner } from "~/api/owners";
import { Gone } from "./fallback";
import { CRUMB, Page, type PageProps } from "./page";
import { texts } from "./texts";

const Slash = () => <span className="px-1.5 text-faint">/</span>;

interface OwnerPageProps extends Omit<PageProps, "heading" | "scroll"> {
  owner: Owner | null | undefined;
  /** The discovery rule that lies between. */
  rule?: { itemid: string; name: string } | null;
  /** The tab of the rule where such parts are listed. */
  tab?: string;
}

/** A page about a part of a host or template: its heading is the way back. */
export function OwnerPage({ owner, rule, tab, ...page }: OwnerPageProps) {
  const heading = owner && (
    <span className="truncate max-sm:break-words max-sm:whitespace-normal">
      {owner.template ? (
        <Link to="/templates/$templateid" params={{ templateid: owner.id }} className={CRUMB}>
          {owner.name}
        </Link>
      ) : (
        <Link to="/hosts/$hostid" params={{ hostid: owner.id }} className={CRUMB}>
          {owner.name}
        </Link>
      )}
      <Slash />
      {rule && (
        <>
          <Link
            to="/rules/$ruleid"
            params={{ ruleid: rule.itemid }}
            search={{ tab }}
            className={CRUMB}
          >
            {rule.name}
          </Link>
          <Slash />
        </>
      )}
      {page.title}
    </span>
  );
  return <Page {...page} scroll heading={heading} />;
}

/** In place of a part whose host or template is not there. */
export const NO_OWNER = <Gone icon="hosts" title={texts.thisHostOrTemplate} />;

/** What a part belongs to, in words. */
export function onOwner(owner: Owner): string {
  return `On ${owner.template ? "template" : "host"} ${owner.name}.`;
}

type Part = "latest" | "triggers" | "discovery" | "web" | "valuemaps";

/** Goes back to where parts are listed: those of a rule, else those of a host or template. */
export function useLeave(): (owner: Owner, part: Part, ruleid?: string) => void {
  const navigate = useNavigate();
  return (owner, part, ruleid) => {
    if (ruleid) {
      const tab = part === "latest" ? "items" : part;
      void navigate({ to: "/rules/$ruleid", params: { ruleid }, search: { tab } });
    } else if (owner.template) {
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
