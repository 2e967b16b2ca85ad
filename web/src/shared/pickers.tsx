import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type GroupOf, groupsQuery } from "~/api/groups";
import { hostNamesQuery, hostSearchQuery } from "~/api/hosts";
import { templateSearchQuery } from "~/api/templates";
import { Pick } from "~/ui/pick";
import { SeverityMark } from "~/ui/severity";
import { isBehind, useSettled } from "~/util/hooks";
import { SEVERITIES, severityName } from "~/util/severity";
import { texts } from "./texts";

/** What groups are called. */
export const GROUPS: Record<GroupOf, string> = { host: "Host groups", template: "Template groups" };

interface PickerProps {
  values: readonly string[];
  onChange: (values: string[]) => void;
  field?: boolean;
  id?: string;
  onCreate?: (text: string) => void;
}

export function GroupPicker({ of, ...rest }: PickerProps & { of: GroupOf }) {
  const { data = [] } = useQuery(groupsQuery(of));
  const options = data.map((group) => ({ value: group.groupid, label: group.name }));
  return <Pick label={GROUPS[of]} options={options} {...rest} />;
}

export function HostPicker(props: PickerProps) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const search = useQuery(hostSearchQuery(settled));
  const { data: chosen = [] } = useQuery(hostNamesQuery([...props.values]));
  return (
    <Pick
      label={texts.hosts}
      options={(search.data ?? []).map((host) => ({ value: host.hostid, label: host.name }))}
      labelOf={(id) => chosen.find((host) => host.hostid === id)?.name}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      {...props}
    />
  );
}

export function TemplatePicker(props: PickerProps & { names?: ReadonlyMap<string, string> }) {
  const { names, ...rest } = props;
  const [text, setText] = useState("");
  const [seen] = useState(() => new Map<string, string>(names));
  const settled = useSettled(text);
  const search = useQuery(templateSearchQuery(settled));
  const data = search.data ?? [];
  for (const template of data) seen.set(template.templateid, template.name);
  return (
    <Pick
      label={texts.templates}
      options={data.map((template) => ({ value: template.templateid, label: template.name }))}
      labelOf={(id) => seen.get(id) ?? names?.get(id)}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      {...rest}
    />
  );
}

const SEVERITY_OPTIONS = SEVERITIES.map((severity) => ({
  value: String(severity),
  label: severityName(severity),
  mark: <SeverityMark severity={severity} />,
}));

export function SeverityPicker(props: PickerProps) {
  return <Pick label={texts.severity} options={SEVERITY_OPTIONS} {...props} />;
}
