import { type ReactNode, useMemo } from "react";
import { Icon } from "~/ui/icon";
import { plural } from "~/util/format";
import { type Changes, type Difference, differences, type Plan } from "./plan";
import { texts } from "./texts";

/** Groups and items that are shown. */
const GROUPS_SHOWN = 12;
const ITEMS_SHOWN = 20;

/** The old and the new value of a field. */
export function Step({ field, before, after }: Difference) {
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
      <span className="text-soft">{texts.fields[field]}</span>
      <span className="min-w-0 break-words">{before}</span>
      <span aria-hidden="true" className="text-faint">
        →
      </span>
      <span className="sr-only">{texts.becomes}</span>
      <span className="min-w-0 font-medium break-words">{after}</span>
    </span>
  );
}

function Heading({ children }: { children: ReactNode }) {
  return <h4 className="text-xs font-medium text-soft">{children}</h4>;
}

function Groups({ plan }: { plan: Plan }) {
  const rest = plan.groups.length - GROUPS_SHOWN;
  return (
    <div className="flex flex-col gap-1">
      <Heading>{texts.byOldValue}</Heading>
      <ul aria-label={texts.byOldValue} className="rounded-md border">
        {plan.groups.slice(0, GROUPS_SHOWN).map((group) => (
          <li
            key={JSON.stringify([group.field, group.before])}
            className="flex items-baseline gap-4 border-b px-3 py-1.5 last:border-0"
          >
            <span className="min-w-0 flex-1">
              <Step {...group} />
            </span>
            <span className="tabular whitespace-nowrap">{plural(group.count, "item")}</span>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="text-xs text-soft">{texts.moreGroups(rest)}</p>}
    </div>
  );
}

function FirstItems({ plan, changes }: { plan: Plan; changes: Changes }) {
  return (
    <div className="flex flex-col gap-1">
      <Heading>{texts.firstItems}</Heading>
      <ul aria-label={texts.firstItems} className="rounded-md border">
        {plan.changing.slice(0, ITEMS_SHOWN).map((item) => (
          <li
            key={item.itemid}
            className="grid grid-cols-2 gap-x-4 border-b px-3 py-1.5 last:border-0 max-sm:grid-cols-1"
          >
            <span className="flex min-w-0 flex-col">
              <span className="truncate font-medium" title={item.key_}>
                {item.name}
              </span>
              <span className="truncate text-xs text-soft">{item.hosts[0]?.name}</span>
            </span>
            <span className="flex min-w-0 flex-col">
              {differences(item, changes).map((one) => (
                <Step key={one.field} {...one} />
              ))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Fields that cannot change, with the reason and the number of items. */
function Refused({ plan }: { plan: Plan }) {
  return (
    <ul className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2">
      {plan.refused.map(({ field, reason, count }) => (
        <li key={`${field} ${reason}`} className="flex items-start gap-2">
          <Icon name="info" size={14} className="mt-0.5 shrink-0 text-faint" />
          <span>{texts.refused(texts.fields[field], count, texts.reasons[reason])}</span>
        </li>
      ))}
    </ul>
  );
}

interface PreviewProps {
  plan: Plan;
  changes: Changes;
  total: number;
  template: boolean;
}

/** What a change would do: numbers, refusals, old and new values. */
export function Preview({ plan, changes, total, template }: PreviewProps) {
  const { changing, same, blocked, refused, inherited } = plan;
  const lines = useMemo(
    () => [
      ...(same > 0 ? [texts.haveThese(same)] : []),
      ...(inherited > 0 ? [texts.inherited(inherited)] : []),
      ...(template && changing.length > 0 ? [texts.ofTemplate] : []),
    ],
    [same, inherited, template, changing],
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-col gap-1">
        <p role="status" className="font-medium">
          {texts.willChange(changing.length, total)}
        </p>
        {lines.map((line) => (
          <p key={line} className="text-soft">
            {line}
          </p>
        ))}
        {blocked > 0 && <p className="text-soft">{texts.cannot(blocked)}</p>}
      </div>
      {refused.length > 0 && <Refused plan={plan} />}
      {changing.length > 0 && (
        <>
          <Groups plan={plan} />
          <FirstItems plan={plan} changes={changes} />
        </>
      )}
    </div>
  );
}
