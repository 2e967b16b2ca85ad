import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { PoolServer } from "~/api/balancing";
import { hostAddressesQuery } from "~/api/hosts";
import { HeadedRows } from "~/shared/forms/headed-rows";
import { HostPicker } from "~/shared/pickers";
import { Field, Input } from "~/ui/field";
import { newServer } from "../pool-draft";
import { addHosts, splitAddress } from "./draft";
import { texts } from "./texts";

const BOXES = [
  ["name", texts.name],
  ["address", texts.ipAddress],
  ["port", texts.port],
] as const;

interface ServersProps {
  servers: readonly PoolServer[];
  onChange: (servers: PoolServer[]) => void;
  error?: string;
}

/** Servers that are typed, or are monitored hosts. */
export function Servers({ servers, onChange, error }: ServersProps) {
  const client = useQueryClient();
  const [without, setWithout] = useState("");
  const chosen = servers.flatMap((one) => (one.hostid === "0" ? [] : [one.hostid]));
  // What is typed while hosts are read is not lost.
  const latest = useRef({ servers, onChange });
  latest.current = { servers, onChange };
  const onHosts = async (hostids: string[]) => {
    const fresh = hostids.filter((id) => !chosen.includes(id));
    const hosts = fresh.length ? await client.fetchQuery(hostAddressesQuery(fresh)) : [];
    const now = latest.current;
    const kept = now.servers.filter((one) => one.hostid === "0" || hostids.includes(one.hostid));
    const added = addHosts(kept, hosts);
    setWithout(added.without.join(", "));
    now.onChange(added.servers);
  };
  return (
    <div className="flex flex-col gap-4">
      <HeadedRows
        heads={BOXES.map(([, label]) => label)}
        grid="grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)_5rem_2rem]"
        rows={servers}
        onChange={onChange}
        word={texts.serverWord}
        fresh={() => newServer(servers)}
        problem={error}
        note={
          servers.some((one) => one.address.startsWith("127.")) && (
            <p className="text-xs text-soft">{texts.loopback}</p>
          )
        }
      >
        {(row, set) =>
          BOXES.map(([member, label]) => (
            <Input
              key={member}
              aria-label={label}
              title={label}
              placeholder={member === "address" ? "10.0.0.11" : undefined}
              value={row[member]}
              onChange={({ target: { value } }) =>
                set(member === "address" ? splitAddress(value) : { [member]: value })
              }
            />
          ))
        }
      </HeadedRows>
      <Field
        label={texts.fromHosts}
        hint={texts.fromHostsHint}
        error={without ? texts.noAddress(without) : undefined}
      >
        {(id) => (
          <HostPicker field id={id} values={chosen} onChange={(next) => void onHosts(next)} />
        )}
      </Field>
    </div>
  );
}
