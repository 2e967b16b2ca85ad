import { getRouteApi } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import {
  certificateQuery,
  engineGroupQuery,
  mayBalance,
  monitorQuery,
  type Pool,
  poolGroupQuery,
  poolQuery,
  type Service,
  serviceQuery,
  vipQuery,
} from "~/api/balancing";
import { Found, Gone, NoPermission, NotFound } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { EnginesPanel } from "./engines/panel";
import { Figures } from "./figures";
import { EngineGroupForm } from "./groups/form";
import { PoolHealthCard } from "./health/card";
import type { Kind } from "./kinds";
import { Order } from "./order";
import { PoolForm } from "./pool-form";
import { PoolGroupForm } from "./pool-group-form";
import { ServiceForm } from "./service-form";
import { CertificateForm, MonitorForm, VipForm } from "./simple-form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/balancing/$kind/new");
const editRoute = getRouteApi("/inside/balancing/$kind/$id/edit");

/** Admins may read what they may not change. */
function Guarded({ children }: { children: ReactNode }) {
  if (mayBalance()) return children;
  return (
    <>
      <p className="mb-3 rounded-md bg-accent-soft px-3 py-2 text-accent-ink">
        {texts.onlySuperAdmins}
      </p>
      {/* Buttons that change something are hidden. Choices are shown as they are. */}
      <fieldset disabled className="contents [&_button:not([role=radio])]:hidden">
        {children}
      </fieldset>
    </>
  );
}

interface EditProps<T> {
  id: string;
  /** Above the form. */
  above?: (row: T) => ReactNode;
  word: string;
  query: (id: string) => Parameters<typeof useFresh<T | null, readonly unknown[]>>[0];
  form: ComponentType<{ row: T | null }>;
}

/** The page of a form with the object as the server has it now. */
function Edit<T extends { name: string }>({ id, word, query, above, form: Form }: EditProps<T>) {
  const found = useFresh(query(id));
  const name = found.data?.name ?? word;
  const title = mayBalance() ? texts.editName(name) : name;
  return (
    <Page title={title} scroll>
      <Found query={found} gone={<Gone icon="search" title={texts.isGone(word)} />}>
        {(row) => (
          <>
            {above?.(row)}
            <Guarded>
              <Form key={id} row={row} />
            </Guarded>
          </>
        )}
      </Found>
    </Page>
  );
}

interface KindPages {
  word: string;
  create: ReactNode;
  edit: (id: string) => ReactNode;
}

function kindOf<T extends { name: string }>(
  word: string,
  Form: ComponentType<{ row: T | null }>,
  query: EditProps<T>["query"],
  above?: EditProps<T>["above"],
): KindPages {
  return {
    word,
    create: <Form row={null} />,
    edit: (id) => <Edit<T> id={id} word={word} query={query} form={Form} above={above} />,
  };
}

const engines = (row: { enginegroupid: string }) => (
  <EnginesPanel enginegroupid={row.enginegroupid} />
);
const aboveService = (row: Service) => (
  <>
    {engines(row)}
    <Figures kind="service" id={row.virtualserviceid} />
  </>
);
const abovePool = (row: Pool) => (
  <>
    <Figures kind="pool" id={row.poolid} />
    <PoolHealthCard id={row.poolid} />
  </>
);

const KINDS: Readonly<Record<Kind, KindPages>> = {
  services: kindOf(texts.serviceWord, ServiceForm, serviceQuery, aboveService),
  pools: kindOf(texts.poolWord, PoolForm, poolQuery, abovePool),
  "pool-groups": kindOf(texts.poolGroupWord, PoolGroupForm, poolGroupQuery),
  "health-monitors": kindOf(texts.monitorWord, MonitorForm, monitorQuery),
  vips: kindOf(texts.vipWord, VipForm, vipQuery),
  certificates: kindOf(texts.certificateWord, CertificateForm, certificateQuery, (row) => (
    <Order row={row} />
  )),
  "engine-groups": kindOf(texts.groupWord, EngineGroupForm, engineGroupQuery, engines),
};

/** Nothing for an address that names no kind. */
const pagesOf = (kind: string) => (Object.hasOwn(KINDS, kind) ? KINDS[kind as Kind] : undefined);

export function BalancedNewPage() {
  const pages = pagesOf(newRoute.useParams().kind);
  if (!pages) return <NotFound />;
  if (!mayBalance()) return <NoPermission />;
  return (
    <Page title={texts.createWord(pages.word)} scroll>
      {pages.create}
    </Page>
  );
}

export function BalancedEditPage() {
  const { kind, id } = editRoute.useParams();
  return pagesOf(kind)?.edit(id) ?? <NotFound />;
}
