import { getRouteApi } from "@tanstack/react-router";
import { hostQuery } from "~/api/hosts";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { HostForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/hosts/$hostid/edit");

export function HostNewPage() {
  return (
    <Page title={texts.createHost} scroll>
      <HostForm host={null} />
    </Page>
  );
}

export function HostEditPage() {
  const { hostid } = editRoute.useParams();
  const query = useFresh(hostQuery(hostid));
  return (
    <Page title={query.data ? texts.editOf(query.data.name) : texts.editHost} scroll>
      <Found query={query} gone={<Gone icon="hosts" title={texts.thisHostDoesNot} />}>
        {(host) => <HostForm key={host.hostid} host={host} />}
      </Found>
    </Page>
  );
}
