import { useQuery } from "@tanstack/react-query";
import { fullName, userNamesQuery } from "~/api/users";
import { RangePicker } from "~/charts/range-picker";
import { Button } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { AUDIT_ACTIONS, AUDIT_RESOURCES } from "~/util/audit";
import { listOf, listTo } from "~/util/search";
import { type AuditSearch, DEFAULT_RANGE } from "./filter";
import { texts } from "./texts";

interface FilterBarProps {
  search: AuditSearch;
  text: string;
  onText: (text: string) => void;
  onChange: (next: Partial<AuditSearch>) => void;
}

const optionsOf = (list: readonly (readonly [string, string])[]) =>
  list.map(([value, label]) => ({ value, label }));
const ACTIONS = optionsOf(AUDIT_ACTIONS);
const KINDS = optionsOf(AUDIT_RESOURCES);

/** Everything that narrows the log; all of it lives in the address. */
export function FilterBar({ search, text, onText, onChange }: FilterBarProps) {
  const { data: users = [] } = useQuery(userNamesQuery());
  const { from, to } = search;
  // One object and one call are shown whole at first.
  const isWhole = Boolean(search.id || search.set) && !from && !to;
  const range = { from: from ?? DEFAULT_RANGE.from, to: to ?? DEFAULT_RANGE.to };
  const tag = (label: string, word: "id" | "set") =>
    search[word] && (
      <Button icon="close" onClick={() => onChange({ [word]: undefined })}>
        {word === "id" ? `${label}: ${search.id}` : label}
      </Button>
    );
  return (
    <>
      <SearchBox label={texts.searchNames} value={text} onChange={onText} className="w-60" />
      <Pick
        label={texts.users}
        values={listOf(search.user)}
        options={users.map((user) => ({ value: user.userid, label: fullName(user) }))}
        onChange={(values) => onChange({ user: listTo(values) })}
      />
      <Pick
        label={texts.actions}
        values={listOf(search.action)}
        options={ACTIONS}
        onChange={(values) => onChange({ action: listTo(values) })}
      />
      <Pick
        label={texts.kinds}
        values={listOf(search.kind)}
        options={KINDS}
        onChange={(values) => onChange({ kind: listTo(values) })}
      />
      {tag(texts.oneObject, "id")}
      {tag(texts.oneCall, "set")}
      {isWhole ? (
        <Button icon="clock" onClick={() => onChange(DEFAULT_RANGE)}>
          {texts.allTimes}
        </Button>
      ) : (
        <RangePicker range={range} onChange={onChange} />
      )}
    </>
  );
}
