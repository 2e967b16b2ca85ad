import { useQuery } from "@tanstack/react-query";
import { allActionsQuery } from "~/api/actions";
import { mediaTypeNamesQuery } from "~/api/media-types";
import { fullName, userNamesQuery } from "~/api/users";
import { RangePicker } from "~/charts/range-picker";
import { Button } from "~/ui/button";
import { SearchBox, Select } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { listOf, listTo } from "~/util/search";
import { type AlertSearch, DEFAULT_RANGE, REASONS, SOURCES, STATUSES, sourceOf } from "./filter";
import { texts } from "./texts";

interface FilterBarProps {
  search: AlertSearch;
  text: string;
  onText: (text: string) => void;
  onChange: (next: Partial<AlertSearch>) => void;
}

/** Everything that narrows the log; all of it lives in the address. */
export function FilterBar({ search, text, onText, onChange }: FilterBarProps) {
  const { data: users = [] } = useQuery(userNamesQuery());
  const { data: actions = [] } = useQuery(allActionsQuery());
  const { data: types = [] } = useQuery(mediaTypeNamesQuery());
  return (
    <>
      <Select
        aria-label={texts.source}
        className="w-56!"
        options={SOURCES}
        value={sourceOf(search)}
        onChange={(e) => onChange({ source: e.target.value })}
      />
      <Select
        aria-label={texts.status}
        className="w-36!"
        options={STATUSES}
        value={search.status ?? ""}
        onChange={(e) => onChange({ status: e.target.value || undefined })}
      />
      <Pick
        label={texts.withheld}
        values={listOf(search.withheld)}
        options={REASONS.map(([value, label]) => ({ value, label }))}
        onChange={(reasons) => onChange({ withheld: listTo(reasons) })}
      />
      <SearchBox label={texts.searchMessages} value={text} onChange={onText} className="w-60" />
      <Pick
        label={texts.users}
        values={listOf(search.user)}
        options={users.map((user) => ({ value: user.userid, label: fullName(user) }))}
        onChange={(ids) => onChange({ user: listTo(ids) })}
      />
      <Pick
        label={texts.actions}
        values={listOf(search.action)}
        options={actions.map((action) => ({ value: action.actionid, label: action.name }))}
        onChange={(ids) => onChange({ action: listTo(ids) })}
      />
      <Pick
        label={texts.mediaTypes}
        values={listOf(search.media)}
        options={types.map((type) => ({ value: type.mediatypeid, label: type.name }))}
        onChange={(ids) => onChange({ media: listTo(ids) })}
      />
      {search.event ? (
        <Button icon="close" onClick={() => onChange({ event: undefined })}>
          {texts.oneProblem}
        </Button>
      ) : (
        <RangePicker
          range={{ from: search.from ?? DEFAULT_RANGE.from, to: search.to ?? DEFAULT_RANGE.to }}
          onChange={({ from, to }) => onChange({ from, to })}
        />
      )}
    </>
  );
}
