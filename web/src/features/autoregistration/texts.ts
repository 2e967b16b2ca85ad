/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  autoregistration: "Autoregistration",
  theAutoregistrationSettingsWere: "The autoregistration settings were saved.",
  connections: "Connections",
  acceptedConnections: "Accepted connections",
  pskIdentity: "PSK identity",
  psk: "PSK",
  n32To512Hexadecimal: "32 to 512 hexadecimal digits. Hosts created for these agents get this key.",
  autoregistrationAction: "autoregistration action",
  agentsCanRegisterWhile:
    "Agents can register while an {action} is enabled. The action creates their hosts.",
} as const;
