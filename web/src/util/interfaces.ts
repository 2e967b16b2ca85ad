interface HostInterface {
  interfaceid?: string;
  type: string;
  main: string;
  useip: string;
  ip: string;
  dns: string;
  port: string;
  /** Of SNMP; the API gives an empty list where there are none. */
  details?: object | [];
}

/** An interface as the create and update methods take it. */
export function interfaceParams(iface: HostInterface): object {
  const { interfaceid, type, main, useip, ip, dns, port } = iface;
  const details =
    type === "2" && iface.details && !Array.isArray(iface.details) ? iface.details : undefined;
  return { interfaceid, type, main, useip, ip, dns, port, details };
}
