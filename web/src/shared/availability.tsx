import { cx } from "~/ui/cx";
import type { HostInterface } from "~/util/interfaces";
import { texts } from "./texts";

const NAMES: Record<string, string> = { "1": "Agent", "2": "SNMP", "3": "IPMI", "4": "JMX" };
const WORDS = ["unknown", "available", "not available"];

export function interfaceName(type: string): string {
  return NAMES[type] ?? "Interface";
}

export function interfaceAddress(
  iface: Pick<HostInterface, "useip" | "ip" | "dns" | "port">,
): string {
  return `${iface.useip === "1" ? iface.ip : iface.dns}:${iface.port}`;
}

/** The state of one kind of interface: any that fails makes it bad, any unknown makes it unknown. */
export function combined(states: readonly string[]): "0" | "1" | "2" {
  if (states.includes("2")) return "2";
  return states.includes("1") ? "1" : "0";
}

const UNAVAILABLE = "2";

const LOOK = {
  "0": "border-line-strong text-soft",
  "1": "border-transparent bg-good-soft text-good-ink",
  "2": "border-transparent bg-bad-soft text-bad-ink",
};

function Mark({ name, state, hint }: { name: string; state: "0" | "1" | "2"; hint: string }) {
  return (
    <span
      title={hint}
      className={cx(
        "inline-flex h-5 items-center rounded border px-1.5 text-2xs font-medium",
        LOOK[state],
      )}
    >
      {name}
      <span className="sr-only"> {WORDS[Number(state)]}</span>
      {state === UNAVAILABLE && (
        <span aria-hidden="true" className="pl-1">
          {texts.down}
        </span>
      )}
    </span>
  );
}

/** Availability per kind of interface, and of active checks where their state is known. */
export function Availability({
  interfaces,
  active,
}: {
  interfaces: readonly HostInterface[];
  active: string;
}) {
  const kinds = ["1", "2", "3", "4"].filter((type) => interfaces.some((i) => i.type === type));
  return (
    <span className="flex items-center gap-1">
      {kinds.map((type) => {
        const own = interfaces.filter((i) => i.type === type);
        const hint = own
          .map(
            (i) =>
              `${interfaceAddress(i)}: ${WORDS[Number(i.available ?? 0)]}${i.error ? `\n${i.error}` : ""}`,
          )
          .join("\n");
        return (
          <Mark
            key={type}
            name={interfaceName(type)}
            state={combined(own.map((i) => i.available ?? "0"))}
            hint={hint}
          />
        );
      })}
      {(active === "1" || active === "2") && (
        <Mark
          name="Active"
          state={active}
          hint={texts.activeChecks(WORDS[Number(active)] ?? active)}
        />
      )}
      {kinds.length === 0 && active === "0" && (
        <span className="text-xs text-faint">{texts.noInterface}</span>
      )}
    </span>
  );
}
