import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { DiscoveryRule } from "~/api/discovery";
import { explain } from "~/api/errors";
import type { ConfiguredItem } from "~/api/item-config";
import { Discover, State, Status } from "~/api/schema";
import { mayConfigure } from "~/api/session-store";
import { setTriggerStatus } from "~/api/trigger-config";
import type { TriggerRow } from "~/api/triggers";
import { buttonClass, IconButton } from "~/ui/button";
import { Card } from "~/ui/card";
import { Icon } from "~/ui/icon";
import { SeverityBadge } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import { itemTypeName, valueTypeName } from "~/util/item-types";
import { toSeverity } from "~/util/severity";
import { QueryError, StaleError } from "./fallback";
import { texts } from "./texts";

interface TableProps<T> {
  query: {
    data: T[] | undefined;
    error: Error | null;
    dataUpdatedAt: number;
    refetch: () => unknown;
  };
  head: readonly (readonly [title: string, className: string])[];
  row: (entry: T) => ReactNode;
  empty: ReactNode;
}

const SCROLLS = { role: "region", "aria-label": "Table", tabIndex: 0 };

/** A plain table for the few dozen parts of one host or template. */
export function PlainTable<T>({ query, head, row, empty }: TableProps<T>) {
  const { data, error, refetch } = query;
  if (error && !data) return <QueryError error={error} onRetry={() => void refetch()} />;
  return (
    <Card bodyClass="rounded-lg">
      <StaleError query={query} />
      {!data ? (
        <SkeletonRows />
      ) : data.length === 0 ? (
        empty
      ) : (
        // Scrolled by keyboard too, also without anything in it to focus.
        <div {...SCROLLS} className="overflow-x-auto rounded-lg">
          <table className="w-full table-fixed max-md:min-w-[56rem]">
            <thead>
              <tr className="bg-sunken text-xs text-soft">
                {head.map(([title, className]) => (
                  <th key={title} className={`h-8 px-3 text-left font-medium ${className}`}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{data.map(row)}</tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

/** The look of a cell in a plain table. */
export const CELL = "px-3 py-2 align-top break-words";

/** What discovery makes of a prototype. */
export function PrototypeState({ status, discover }: { status: string; discover: string }) {
  if (discover === Discover.No) return <span className="text-faint">{texts.notDiscovered}</span>;
  return (
    <span className="text-soft">
      {status === Status.Disabled ? texts.createdDisabled : texts.created}
    </span>
  );
}

function KeyCell({ children }: { children: string }) {
  return (
    <td className={CELL}>
      <code className="font-mono text-2xs break-all text-soft">{children}</code>
    </td>
  );
}

interface ConfiguredItemsProps<I> {
  query: TableProps<I>["query"];
  empty: ReactNode;
  state: (item: I) => ReactNode;
  /** Without them nothing can be selected. */
  selected?: ReadonlySet<string>;
  onSelect?: (selected: ReadonlySet<string>) => void;
}

/** Items or prototypes as they are configured. */
export function ConfiguredItems<I extends ConfiguredItem>(props: ConfiguredItemsProps<I>) {
  const { query, empty, state, selected, onSelect } = props;
  const toggle = (itemid: string) => {
    const next = new Set(selected);
    if (!next.delete(itemid)) next.add(itemid);
    onSelect?.(next);
  };
  return (
    <PlainTable<I>
      query={query}
      head={[
        ...(onSelect ? [["", "w-9"] as const] : []),
        ["Name", ""],
        ["Key", ""],
        ["Type", "w-36"],
        ["Value", "w-40"],
        ["Interval", "w-24"],
        ["State", "w-36"],
      ]}
      empty={empty}
      row={(item) => (
        <tr key={item.itemid} className="border-t hover:bg-hover">
          {onSelect && (
            <td className={CELL}>
              <input
                type="checkbox"
                aria-label={texts.selectName(item.name)}
                checked={selected?.has(item.itemid) ?? false}
                onChange={() => toggle(item.itemid)}
                className="size-3.5 accent-accent"
              />
            </td>
          )}
          <td className={`${CELL} font-medium`}>
            <Link
              to="/items/$itemid/edit"
              params={{ itemid: item.itemid }}
              className="hover:underline"
            >
              {item.name}
            </Link>
          </td>
          <KeyCell>{item.key_}</KeyCell>
          <td className={`${CELL} text-soft`}>{itemTypeName(item.type)}</td>
          <td className={`${CELL} text-soft`}>
            {valueTypeName(item.value_type)}
            {item.units && <span className="text-faint"> · {item.units}</span>}
          </td>
          <td className={`${CELL} tabular text-soft`}>{item.delay === "0" ? "" : item.delay}</td>
          <td className={CELL}>{state(item)}</td>
        </tr>
      )}
    />
  );
}

/** Severity, name and expression of a trigger or prototype. */
export function TriggerCells({
  trigger,
}: {
  trigger: Pick<TriggerRow, "triggerid" | "description" | "expression" | "priority"> & {
    templateid?: string;
  };
}) {
  return (
    <>
      <td className={CELL}>
        <SeverityBadge severity={toSeverity(trigger.priority)} />
      </td>
      <td className={`${CELL} font-medium`}>
        <Link
          to="/triggers/$triggerid/edit"
          params={{ triggerid: trigger.triggerid }}
          className="hover:underline"
        >
          {trigger.description}
        </Link>
        {(trigger.templateid ?? "0") !== "0" && (
          <span className="block text-xs font-normal text-faint">{texts.fromATemplate}</span>
        )}
      </td>
      <KeyCell>{trigger.expression}</KeyCell>
    </>
  );
}

export function TriggerTable({
  query,
  showState,
}: {
  query: TableProps<TriggerRow>["query"];
  showState?: boolean;
}) {
  const toggle = useMutation({
    mutationFn: (trigger: TriggerRow) =>
      setTriggerStatus(
        trigger.triggerid,
        trigger.status === Status.Disabled ? Status.Enabled : Status.Disabled,
      ),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => query.refetch(),
  });
  return (
    <PlainTable
      query={query}
      head={[
        ["Severity", "w-36"],
        ["Name", ""],
        ["Expression", ""],
        ["State", "w-28"],
      ]}
      empty={
        <Empty icon="problems" title={texts.noTriggers}>
          {texts.linkATemplateThat}
        </Empty>
      }
      row={(trigger) => (
        <tr key={trigger.triggerid} className="border-t hover:bg-hover">
          <TriggerCells trigger={trigger} />
          <td className={CELL}>
            <span className="flex items-center justify-between gap-1">
              {trigger.status === Status.Disabled ? (
                <span className="text-faint">{texts.disabled}</span>
              ) : !showState ? (
                <span className="text-soft">{texts.enabled}</span>
              ) : trigger.value === "1" ? (
                <span className="font-medium text-bad-ink">{texts.problem}</span>
              ) : (
                <span className="text-good-ink">{texts.ok}</span>
              )}
              <IconButton
                small
                icon="power"
                label={`${trigger.status === Status.Disabled ? texts.enable : texts.disable} ${trigger.description}`}
                onClick={() => toggle.mutate(trigger)}
              />
            </span>
          </td>
        </tr>
      )}
    />
  );
}

function PrototypeLink({ ruleid, tab, count }: { ruleid: string; tab: string; count: string }) {
  return (
    <Link to="/rules/$ruleid" params={{ ruleid }} search={{ tab }} className="hover:underline">
      {count}
    </Link>
  );
}

/** Where parts of a host or template are made. */
export function CreateLink({
  to,
  ownerid,
  template = false,
  children,
}: {
  to: "/items/new" | "/triggers/new" | "/rules/new" | "/web/new";
  ownerid: string;
  /** The owner is a template. */
  template?: boolean;
  children: ReactNode;
}) {
  if (!mayConfigure(template ? "templates" : "hosts")) return null;
  return (
    <Link to={to} search={{ owner: ownerid }} className={`${buttonClass("plain")} self-start`}>
      <Icon name="plus" size={15} />
      {children}
    </Link>
  );
}

export function DiscoveryTable({ query }: { query: TableProps<DiscoveryRule>["query"] }) {
  return (
    <PlainTable
      query={query}
      head={[
        ["Name", ""],
        ["Key", ""],
        ["Type", "w-36"],
        ["Interval", "w-24"],
        ["Item prototypes", "w-32"],
        ["Trigger prototypes", "w-36"],
        ["State", "w-32"],
      ]}
      empty={
        <Empty icon="search" title={texts.noDiscoveryRules}>
          {texts.discoveryRulesFindFile}
        </Empty>
      }
      row={(rule) => (
        <tr key={rule.itemid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            <Link to="/rules/$ruleid" params={{ ruleid: rule.itemid }} className="hover:underline">
              {rule.name}
            </Link>
          </td>
          <KeyCell>{rule.key_}</KeyCell>
          <td className={`${CELL} text-soft`}>{itemTypeName(rule.type)}</td>
          <td className={`${CELL} text-soft`}>{rule.delay === "0" ? "" : rule.delay}</td>
          <td className={`${CELL} tabular`}>
            <PrototypeLink ruleid={rule.itemid} tab="items" count={rule.items} />
          </td>
          <td className={`${CELL} tabular`}>
            <PrototypeLink ruleid={rule.itemid} tab="triggers" count={rule.triggers} />
          </td>
          <td className={CELL}>
            {rule.status === Status.Disabled ? (
              <span className="text-faint">{texts.disabled}</span>
            ) : rule.state === State.NotSupported ? (
              <span className="text-bad-ink" title={rule.error}>
                {texts.notSupported}
              </span>
            ) : (
              <span className="text-soft">{texts.enabled}</span>
            )}
          </td>
        </tr>
      )}
    />
  );
}
