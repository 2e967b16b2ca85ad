import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type HostPrototypeDetail, hostPrototypeQuery } from "~/api/host-prototypes";
import { ruleQuery } from "~/api/item-config";
import { ownerQuery } from "~/api/owners";
import { Gone, QueryError } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { OwnerPage } from "~/shared/owner";
import { Page } from "~/shared/page";
import { SkeletonRows } from "~/ui/state";
import { HostPrototypeForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/host-prototypes/new");
const editRoute = getRouteApi("/inside/host-prototypes/$hostid/edit");
const SEARCH = { tab: "hosts" };

interface BodyProps {
  title: string;
  rule: { itemid: string; name: string };
  ownerid: string;
  prototype: HostPrototypeDetail | null;
}

function Body({ title, rule, ownerid, prototype }: BodyProps) {
  const { data: owner } = useQuery(ownerQuery(ownerid));
  const navigate = useNavigate();
  const params = { ruleid: rule.itemid };
  return (
    <OwnerPage title={title} owner={owner} rule={rule} tab={SEARCH.tab}>
      <HostPrototypeForm
        ruleid={rule.itemid}
        prototype={prototype}
        onDone={() => void navigate({ to: "/rules/$ruleid", params, search: SEARCH })}
      />
    </OwnerPage>
  );
}

/** While there is nothing to edit (yet). */
function Bare({ title, error, missing }: { title: string; error: Error | null; missing?: string }) {
  const content: ReactNode = error ? (
    <QueryError error={error} />
  ) : missing ? (
    <Gone icon="search" title={missing} />
  ) : (
    <SkeletonRows rows={10} />
  );
  return (
    <Page title={title} scroll>
      {content}
    </Page>
  );
}

export function HostPrototypeNewPage() {
  const { rule: ruleid = "" } = newRoute.useSearch();
  const { data: rule, error } = useQuery(ruleQuery(ruleid));
  const title = "Create host prototype";
  if (rule) return <Body title={title} rule={rule} ownerid={rule.hostid} prototype={null} />;
  const missing = rule === null || !ruleid ? "This discovery rule does not exist" : undefined;
  return <Bare title={title} error={error} missing={missing} />;
}

export function HostPrototypeEditPage() {
  const { hostid } = editRoute.useParams();
  const { data: prototype, error } = useFresh(hostPrototypeQuery(hostid));
  if (prototype && !Array.isArray(prototype.discoveryRule)) {
    return (
      <Body
        key={hostid}
        title={texts.editName(prototype.name)}
        rule={prototype.discoveryRule}
        ownerid={prototype.parentHost.hostid}
        prototype={prototype}
      />
    );
  }
  const missing = prototype === null ? "This host prototype does not exist" : undefined;
  return <Bare title={texts.editHostPrototype} error={error} missing={missing} />;
}
