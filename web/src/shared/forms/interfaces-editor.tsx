import { InterfaceType } from "~/api/schema";
import { interfaceName } from "~/shared/availability";
import { Button, IconButton } from "~/ui/button";
import { Input, Select, SelectField, TextField } from "~/ui/field";
import { type HostInterface, type SnmpDetails, snmpDetails } from "~/util/interfaces";
import { patched, without } from "~/util/rows";
import { texts } from "../texts";

interface InterfacesEditorProps {
  interfaces: readonly HostInterface[];
  onChange: (interfaces: HostInterface[]) => void;
}

const PORTS: Record<string, string> = { "1": "10050", "2": "161", "3": "623", "4": "12345" };
const TYPES = [
  ["1", "Agent"],
  ["2", "SNMP"],
  ["3", "IPMI"],
  ["4", "JMX"],
] as const;
const VERSIONS = [
  ["1", "SNMPv1"],
  ["2", "SNMPv2c"],
  ["3", "SNMPv3"],
] as const;
const LEVELS = [
  ["0", "noAuthNoPriv"],
  ["1", "authNoPriv"],
  ["2", "authPriv"],
] as const;
const NEW_SNMP: SnmpDetails = { version: "2", bulk: "1", community: "{$SNMP_COMMUNITY}" };

export function newInterface(type: string, main: boolean): HostInterface {
  return {
    type,
    main: main ? "1" : "0",
    useip: "1",
    ip: "127.0.0.1",
    dns: "",
    port: PORTS[type] ?? "10050",
    details: type === InterfaceType.Snmp ? NEW_SNMP : undefined,
  };
}

function Snmp({
  iface,
  onChange,
}: {
  iface: HostInterface;
  onChange: (details: SnmpDetails) => void;
}) {
  const details = snmpDetails(iface) ?? NEW_SNMP;
  const text = (key: keyof SnmpDetails, label: string) => (
    <TextField
      label={label}
      value={details[key] ?? ""}
      onChange={(value) => onChange({ ...details, [key]: value })}
    />
  );
  return (
    <div className="col-span-full grid grid-cols-2 gap-2 sm:grid-cols-4 rounded-md bg-sunken p-3">
      <SelectField
        label={texts.version}
        options={VERSIONS}
        value={details.version}
        onChange={(value) =>
          onChange(
            value === "3"
              ? { version: "3", bulk: "1", securitylevel: "0" }
              : { ...NEW_SNMP, version: value },
          )
        }
      />
      {details.version !== "3" ? (
        text("community", texts.community)
      ) : (
        <>
          {text("securityname", texts.securityName)}
          <SelectField
            label={texts.securityLevel}
            options={LEVELS}
            value={details.securitylevel ?? "0"}
            onChange={(value) => onChange({ ...details, securitylevel: value })}
          />
          {text("contextname", texts.contextName)}
          {details.securitylevel !== "0" && text("authpassphrase", texts.authenticationPassphrase)}
          {details.securitylevel === "2" && text("privpassphrase", texts.privacyPassphrase)}
        </>
      )}
    </div>
  );
}

/** Addresses of a host. The first of each type is its default. */
export function InterfacesEditor({ interfaces, onChange }: InterfacesEditorProps) {
  const set = (at: number, next: Partial<HostInterface>) => onChange(patched(interfaces, at, next));
  const remove = (at: number) => {
    const gone = interfaces[at];
    const rest = without(interfaces, at);
    const heir = rest.findIndex((iface) => iface.type === gone?.type);
    onChange(gone?.main === "1" ? patched(rest, heir, { main: "1" }) : rest);
  };
  const makeMain = (at: number) => {
    const type = interfaces[at]?.type;
    onChange(
      interfaces.map((iface, i) =>
        iface.type === type ? { ...iface, main: i === at ? "1" : "0" } : iface,
      ),
    );
  };
  return (
    <div className="flex flex-col gap-2">
      {interfaces.map((iface, i) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={i}
          className="grid grid-cols-2 items-center gap-2 max-sm:border-b max-sm:pb-3 sm:grid-cols-[4.5rem_1fr_1fr_7rem_5rem_6rem_2rem]"
        >
          <span className="text-sm font-medium">{interfaceName(iface.type)}</span>
          <Input
            aria-label={texts.ipAddress}
            placeholder={texts.ipAddress}
            value={iface.ip}
            onChange={(e) => set(i, { ip: e.target.value })}
          />
          <Input
            aria-label={texts.dnsName}
            placeholder={texts.dnsName}
            value={iface.dns}
            onChange={(e) => set(i, { dns: e.target.value })}
          />
          <Select
            aria-label={texts.connectTo}
            options={[
              ["1", texts.useIp],
              ["0", texts.useDns],
            ]}
            value={iface.useip}
            onChange={(e) => set(i, { useip: e.target.value })}
          />
          <Input
            aria-label={texts.port}
            value={iface.port}
            onChange={(e) => set(i, { port: e.target.value })}
          />
          <label className="inline-flex items-center gap-2 text-sm text-soft">
            <input
              type="radio"
              className="accent-accent"
              checked={iface.main === "1"}
              onChange={() => makeMain(i)}
            />
            {texts.default}
          </label>
          <IconButton icon="trash" label={texts.removeInterface} onClick={() => remove(i)} />
          {iface.type === InterfaceType.Snmp && (
            <Snmp iface={iface} onChange={(details) => set(i, { details })} />
          )}
        </div>
      ))}
      {interfaces.length === 0 && (
        <p className="text-sm text-soft">{texts.noInterfacesTrapperItems}</p>
      )}
      <div className="flex flex-wrap gap-2">
        {TYPES.map(([type, name]) => (
          <Button
            key={type}
            small
            icon="plus"
            onClick={() =>
              onChange([
                ...interfaces,
                newInterface(type, !interfaces.some((iface) => iface.type === type)),
              ])
            }
          >
            {name}
          </Button>
        ))}
      </div>
    </div>
  );
}
