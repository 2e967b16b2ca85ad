import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  deleteServices,
  enableServices,
  engineGroupsQuery,
  poolGroupsQuery,
  poolsQuery,
  type Service,
  servicesQuery,
  servicesSwitched,
  vipsQuery,
} from "~/api/balancing";
import { Status } from "~/api/schema";
import { Switch } from "~/shared/enable-table";
import { buttonClass } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import type { Column } from "~/ui/table";
import { reviewed, switchWords } from "./apply/review";
import { FileButtons } from "./exchange/buttons";
import { withPort } from "./leave";
import { CreateLink, NameLink, ObjectsPage } from "./list";
import { texts } from "./texts";
import { texts as wizardTexts } from "./wizard/texts";

const route = getRouteApi("/inside/balancing/services");

/** A service with the names of what it uses. */
interface Shown extends Service {
  addresses: readonly string[];
  pool: string;
  group: string;
}

function useServices() {
  const query = useQuery(servicesQuery());
  const { data: vips } = useQuery(vipsQuery());
  const { data: pools } = useQuery(poolsQuery());
  const { data: poolGroups } = useQuery(poolGroupsQuery());
  const { data: groups } = useQuery(engineGroupsQuery());
  const data = useMemo(
    () =>
      query.data?.map((row): Shown => {
        const vip = vips?.find((one) => one.vipid === row.vipid);
        const addresses = [vip?.ipv4, vip?.ipv6].filter((one) => one !== undefined).filter(Boolean);
        return {
          ...row,
          addresses: addresses.map((one) => withPort(one, row.port)),
          pool:
            pools?.find((one) => one.poolid === row.poolid)?.name ??
            poolGroups?.find((one) => one.poolgroupid === row.poolgroupid)?.name ??
            "",
          group: groups?.find((one) => one.enginegroupid === row.enginegroupid)?.name ?? "",
        };
      }),
    [query.data, vips, pools, poolGroups, groups],
  );
  return { ...query, data };
}

const textColumn = (id: "pool" | "group", header: string, width: string): Column<Shown> => ({
  id,
  header,
  width,
  on: "wide",
  cell: (row) => <span title={row[id]}>{row[id]}</span>,
});

/** The first address, and how many more there are. */
function Addresses({ row }: { row: Shown }) {
  const [first, ...more] = row.addresses;
  return (
    <span className="tabular" title={row.addresses.join("\n")}>
      {first}
      {more.length > 0 && <span className="text-soft"> +{more.length}</span>}
    </span>
  );
}

const COLUMNS: readonly Column<Shown>[] = [
  ...nameColumns<Shown>({
    header: texts.service,
    name: (row) => <NameLink kind="services" id={row.virtualserviceid} name={row.name} />,
    nameWidth: "minmax(10rem, 1.4fr)",
    state: (row) => <Switch on={row.status === Status.Enabled} />,
    stateWidth: "6.5rem",
    more: (row) => row.addresses.join(", "),
  }),
  {
    id: "type",
    header: texts.type,
    width: "4rem",
    on: "wide",
    cell: (row) => <span className="text-soft">{row.type.toUpperCase()}</span>,
  },
  {
    id: "addresses",
    header: texts.address,
    width: "minmax(12rem, 1.4fr)",
    on: "wide",
    cell: (row) => <Addresses row={row} />,
  },
  {
    id: "tls",
    header: texts.tls,
    width: "4rem",
    on: "wide",
    cell: (row) =>
      row.certificates.length > 0 ? texts.yes : <span className="text-faint">{texts.no}</span>,
  },
  textColumn("pool", texts.pool, "minmax(8rem, 1fr)"),
  textColumn("group", texts.engineGroup, "minmax(8rem, 1fr)"),
];

/** Shows what it touches first. */
const switchServices = (ids: string[], on: boolean) =>
  reviewed(
    switchWords(ids.length, on),
    { method: "virtualservice.update", params: servicesSwitched(ids, on) },
    () => enableServices(ids, on),
  );

const idOf = (row: Shown) => row.virtualserviceid;
const textOf = (row: Shown) => `${row.name} ${row.addresses.join(" ")}`;

/** Two ways to a new service: with all that it needs, or with existing objects. */
function Create() {
  return (
    <>
      <CreateLink kind="services" word={texts.serviceWord} look="plain" />
      <Link to="/balancing/services/balance" className={buttonClass("primary")}>
        <Icon name="plus" size={15} />
        {wizardTexts.link}
      </Link>
    </>
  );
}

const fileButtons = (chosen: string[]) => <FileButtons chosen={chosen} />;

/** What clients connect to. */
export function ServicesPage() {
  return (
    <ObjectsPage
      kind="services"
      title={texts.services}
      word={texts.serviceWord}
      icon="link"
      query={useServices()}
      columns={COLUMNS}
      idOf={idOf}
      textOf={textOf}
      search={route.useSearch()}
      enable={switchServices}
      remove={deleteServices}
      warning={texts.serviceLoss}
      create={<Create />}
      actions={fileButtons}
    >
      {texts.servicesEmpty}
    </ObjectsPage>
  );
}
