import { InterfaceType } from "~/api/schema";

/** `type`: 1 agent, 2 SNMP, 3 IPMI, 4 JMX. `available`: 0 unknown, 1 available, 2 not available. */
export interface HostInterface {
  interfaceid?: string;
  type: string;
  main: string;
  useip: string;
  ip: string;
  dns: string;
  port: string;
  available?: string;
  error?: string;
  /** Of SNMP; the API gives an empty list where there are none. */
  details?: SnmpDetails | [];
}

export interface SnmpDetails {
  version: string;
  bulk?: string;
  community?: string;
  securityname?: string;
  securitylevel?: string;
  authpassphrase?: string;
  privpassphrase?: string;
  authprotocol?: string;
  privprotocol?: string;
  contextname?: string;
}

/** How it is asked by SNMP. */
export function snmpDetails({ details }: HostInterface): SnmpDetails | undefined {
  return Array.isArray(details) ? undefined : details;
}

/** An interface as the create and update methods take it. */
export function interfaceParams(iface: HostInterface): object {
  const { interfaceid, type, main, useip, ip, dns, port } = iface;
  const details = type === InterfaceType.Snmp ? snmpDetails(iface) : undefined;
  return { interfaceid, type, main, useip, ip, dns, port, details };
}
