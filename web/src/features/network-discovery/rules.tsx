import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  deleteNetworkRules,
  enableNetworkRules,
  type NetworkRule,
  networkRulesQuery,
} from "~/api/network";
import { Status } from "~/api/schema";
import { EnableTable, Switch, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import type { Column } from "~/ui/table";
import { formatCount } from "~/util/format";
import { useTyped } from "~/util/hooks";
import { checkWords } from "~/util/network";
import { texts } from "./texts";

const route = getRouteApi("/inside/discovery-rules");
const idOf = (rule: NetworkRule) => rule.druleid;

function CreateLink() {
  return (
    <Link to="/discovery-rules/new" className={buttonClass("primary")}>
      <Icon name="plus" size={15} />
      {texts.createDiscoveryRule}
    </Link>
  );
}

function Name({ rule }: { rule: NetworkRule }) {
  return (
    <Link
      to="/discovery-rules/$druleid/edit"
      params={{ druleid: rule.druleid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
    >
      {rule.name}
    </Link>
  );
}

const state = (rule: NetworkRule) => (
  <Switch on={rule.status === Status.Enabled} error={rule.error} />
);
const checks = (rule: NetworkRule) => rule.dchecks.map(checkWords).join(", ");

const COLUMNS: readonly Column<NetworkRule>[] = [
  ...nameColumns<NetworkRule>({
    header: texts.rule,
    name: (rule) => <Name rule={rule} />,
    nameWidth: "minmax(10rem, 1.2fr)",
    state,
    stateWidth: "8rem",
    more: (rule) => rule.iprange,
  }),
  {
    id: "range",
    header: texts.addresses,
    width: "minmax(10rem, 1.2fr)",
    on: "wide",
    cell: (rule) => <span title={rule.iprange}>{rule.iprange}</span>,
  },
  { id: "delay", header: texts.interval, width: "5rem", on: "wide", cell: (rule) => rule.delay },
  {
    id: "checks",
    header: texts.checks,
    width: "minmax(10rem, 1.6fr)",
    on: "wide",
    cell: (rule) => (
      <span className="text-soft" title={checks(rule)}>
        {checks(rule)}
      </span>
    ),
  },
  {
    id: "found",
    header: texts.discovered,
    width: "6rem",
    on: "wide",
    cell: (rule) => (
      <Link
        to="/discovery"
        search={{ rule: rule.druleid }}
        onClick={(event) => event.stopPropagation()}
        className="tabular hover:underline"
      >
        {formatCount(Number(rule.dhosts))}
      </Link>
    ),
  },
];

/** Where the network is looked through, and for what. */
export function NetworkRulesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(networkRulesQuery());
  const { data } = query;
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const rows = useMemo(() => {
    const needle = (search.text ?? "").toLowerCase();
    return data?.filter((rule) => `${rule.name} ${rule.iprange}`.toLowerCase().includes(needle));
  }, [data, search.text]);
  const { selected, setSelected, buttons } = useSwitches({
    word: "discovery rule",
    queryKey: "network",
    warning: "Their discovered hosts and services are deleted. Hosts created by actions are kept.",
    enable: enableNetworkRules,
    remove: deleteNetworkRules,
  });
  const chosen = [...selected].filter((id) => rows?.some((rule) => rule.druleid === id));
  const onClear = search.text ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.discoveryRules}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          <CreateLink />
        </>
      }
      filters={
        <SearchBox label={texts.searchRules} value={text} onChange={setText} className="w-64" />
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <EnableTable
          label={texts.discoveryRules}
          columns={COLUMNS}
          rows={rows}
          idOf={idOf}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ druleid }) =>
            void navigate({
              to: "/discovery-rules/$druleid/edit",
              params: { druleid },
              search: {},
            })
          }
          empty={
            <NoRows
              icon="search"
              word={texts.discoveryRuleWord}
              onClear={onClear}
              action={<CreateLink />}
            >
              {texts.aDiscoveryRuleScans}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
