import { getRouteApi } from "@tanstack/react-router";
import { serviceQuery } from "~/api/services";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { ServiceForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/services/new");
const editRoute = getRouteApi("/inside/services/$serviceid/edit");

export function ServiceNewPage() {
  const { parent } = newRoute.useSearch();
  return (
    <Page title={texts.createService} scroll>
      <ServiceForm service={null} parentid={parent} />
    </Page>
  );
}

export function ServiceEditPage() {
  const { serviceid } = editRoute.useParams();
  const query = useFresh(serviceQuery(serviceid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editService} scroll>
      <Found query={query} gone={<Gone icon="tree" title={texts.thisServiceDoesNot} />}>
        {(service) => <ServiceForm key={service.serviceid} service={service} />}
      </Found>
    </Page>
  );
}
