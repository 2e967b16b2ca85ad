import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { serviceNamesQuery, serviceSearchQuery } from "~/api/services";
import { Pick } from "~/ui/pick";
import { isBehind, useSettled } from "~/util/hooks";

interface ServicePickerProps {
  id: string;
  label: string;
  values: readonly string[];
  /** The service itself, which cannot be chosen. */
  without?: string;
  onChange: (values: string[]) => void;
}

export function ServicePicker({ without, ...props }: ServicePickerProps) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const search = useQuery(serviceSearchQuery(settled));
  const { data: chosen = [] } = useQuery(serviceNamesQuery([...props.values].sort()));
  return (
    <Pick
      field
      options={(search.data ?? [])
        .filter((one) => one.serviceid !== without)
        .map((one) => ({ value: one.serviceid, label: one.name }))}
      labelOf={(id) => chosen.find((one) => one.serviceid === id)?.name}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      {...props}
    />
  );
}
