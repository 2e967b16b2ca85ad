/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  heartbeat: "Heartbeat",
  purpose:
    "The server requests an address while monitoring works: values are stored, triggers are evaluated, escalations run. If the requests stop, the service at that address notifies you.",
  enabled: "Send a heartbeat",
  url: "Address",
  urlHint: "Of a service that notifies you if requests stop, such as https://hc.example.org/ping/…",
  period: "Interval",
  periodHint: "Give the service at least twice as long before it notifies you.",
  failures: "If the address does not respond, the host Vedette has a problem.",
  sameMachine: "Use a service on another machine and another network.",
  off: "The heartbeat is off. Nobody is notified if the server stops.",
  save: "Save heartbeat",
  saved: "The heartbeat was saved.",
} as const;
