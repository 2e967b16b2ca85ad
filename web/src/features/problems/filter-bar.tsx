import { useQuery } from "@tanstack/react-query";
import { problemTagNamesQuery } from "~/api/problems";
import { RangePicker } from "~/charts/range-picker";
import { GroupPicker, HostPicker, SeverityPicker } from "~/shared/pickers";
import { Button } from "~/ui/button";
import { Input, SearchBox, Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { plural } from "~/util/format";
import { useFilters } from "~/util/hooks";
import { listOf, listTo } from "~/util/search";
import { modeOf, NO_FILTERS, type ProblemSearch } from "./filter";
import { texts } from "./texts";

interface FilterBarProps {
  search: ProblemSearch;
  onChange: (next: Partial<ProblemSearch>) => void;
}

/** Everything that narrows the list; all of it lives in the address. */
export function FilterBar({ search, onChange }: FilterBarProps) {
  const { text, setText, tags, setTags, onClear } = useFilters(search, onChange, NO_FILTERS);
  const mode = modeOf(search);
  return (
    <>
      <Segmented
        label={texts.show}
        value={mode}
        onChange={(value) => onChange({ show: value === "recent" ? undefined : value })}
        options={[
          ["recent", texts.recent],
          ["open", texts.open],
          ["history", texts.history],
        ]}
      />
      <SearchBox label={texts.searchProblems} value={text} onChange={setText} className="w-48" />
      <SeverityPicker
        values={listOf(search.severity)}
        onChange={(v) => onChange({ severity: listTo(v) })}
      />
      <GroupPicker
        of="host"
        values={listOf(search.group)}
        onChange={(v) => onChange({ group: listTo(v) })}
      />
      <HostPicker values={listOf(search.host)} onChange={(v) => onChange({ host: listTo(v) })} />
      {search.trigger && (
        <Button icon="close" onClick={() => onChange({ trigger: undefined })}>
          {plural(listOf(search.trigger).length, "trigger")}
        </Button>
      )}
      <Input
        aria-label={texts.tags}
        placeholder={texts.tagsSiteRiga}
        title={texts.nameNameNameValue}
        value={tags}
        onChange={(event) => setTags(event.target.value)}
        className="w-36!"
      />
      <Select
        aria-label={texts.acknowledged}
        value={search.ack ?? ""}
        onChange={(event) => onChange({ ack: event.target.value || undefined })}
        options={[
          ["", texts.acknowledgedOrNot],
          ["no", texts.unacknowledged],
          ["yes", texts.acknowledged],
        ]}
        className="w-44!"
      />
      {mode !== "history" && <GroupBy search={search} onChange={onChange} />}
      {mode === "history" && (
        <RangePicker
          range={{ from: search.from ?? "now-24h", to: search.to ?? "now" }}
          onChange={({ from, to }) => onChange({ from, to })}
        />
      )}
      {onClear && (
        <Button look="quiet" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      )}
    </>
  );
}

/** Shows groups of problems instead of single ones. */
function GroupBy({ search, onChange }: FilterBarProps) {
  const { data: tags = [] } = useQuery(problemTagNamesQuery());
  const chosen = search.by ?? "";
  const names = new Set(tags);
  if (chosen.startsWith("tag:")) names.add(chosen.slice(4));
  return (
    <Select
      aria-label={texts.groupBy}
      value={chosen}
      onChange={(event) => onChange({ by: event.target.value || undefined, event: undefined })}
      options={[
        ["", texts.notGrouped],
        ["host", texts.byHost],
        ["group", texts.byHostGroup],
        ["name", texts.byName],
        ...[...names].map((tag): [string, string] => [`tag:${tag}`, texts.byTag(tag)]),
      ]}
      className="w-44!"
    />
  );
}
