import type { MessageTemplate } from "~/api/media-types";
import { EventSource, OperationMode } from "~/api/schema";

const { Problem, Recovery, Update } = OperationMode;
const PROBLEM_LINES = ["Host: {HOST.NAME}", "Severity: {EVENT.SEVERITY}"];

/** Subject and message that a new text begins with, by source and mode. */
const TEXTS: Record<
  string,
  Record<string, readonly [subject: string, lines: readonly string[]]>
> = {
  [EventSource.Trigger]: {
    [Problem]: [
      "Problem: {EVENT.NAME}",
      [
        "Problem: {EVENT.NAME}",
        ...PROBLEM_LINES,
        "Started: {EVENT.DATE} {EVENT.TIME}",
        "Operational data: {EVENT.OPDATA}",
        "Problem ID: {EVENT.ID}",
        "{TRIGGER.URL}",
      ],
    ],
    [Recovery]: [
      "Resolved after {EVENT.DURATION}: {EVENT.NAME}",
      [
        "Resolved problem: {EVENT.NAME}",
        ...PROBLEM_LINES,
        "Resolved: {EVENT.RECOVERY.DATE} {EVENT.RECOVERY.TIME}",
        "Duration: {EVENT.DURATION}",
        "Problem ID: {EVENT.ID}",
      ],
    ],
    [Update]: [
      "Update after {EVENT.AGE}: {EVENT.NAME}",
      [
        "{USER.FULLNAME} {EVENT.UPDATE.ACTION} the problem.",
        "{EVENT.UPDATE.MESSAGE}",
        "Problem: {EVENT.NAME}",
        "Host: {HOST.NAME}",
        "Status: {EVENT.STATUS}",
        "Acknowledged: {EVENT.ACK.STATUS}",
      ],
    ],
  },
  [EventSource.Service]: {
    [Problem]: [
      "Problem of service {SERVICE.NAME}: {EVENT.NAME}",
      ["Service: {SERVICE.NAME}", "Severity: {EVENT.SEVERITY}", "{SERVICE.ROOTCAUSE}"],
    ],
    [Recovery]: [
      "Service {SERVICE.NAME} recovered after {EVENT.DURATION}",
      ["Service: {SERVICE.NAME}", "Duration: {EVENT.DURATION}"],
    ],
    [Update]: [
      "Service {SERVICE.NAME} changed to {EVENT.UPDATE.SEVERITY}",
      ["Service: {SERVICE.NAME}", "Age: {EVENT.AGE}", "{SERVICE.ROOTCAUSE}"],
    ],
  },
  [EventSource.Discovery]: {
    [Problem]: [
      "Discovery: {DISCOVERY.DEVICE.IPADDRESS} is {DISCOVERY.DEVICE.STATUS}",
      [
        "Discovery rule: {DISCOVERY.RULE.NAME}",
        "Address: {DISCOVERY.DEVICE.IPADDRESS}",
        "Status: {DISCOVERY.DEVICE.STATUS}",
        "Service: {DISCOVERY.SERVICE.NAME}",
        "Service status: {DISCOVERY.SERVICE.STATUS}",
      ],
    ],
  },
  [EventSource.Autoregistration]: {
    [Problem]: [
      "Autoregistration: {HOST.HOST}",
      ["Host: {HOST.HOST}", "Address: {HOST.IP}", "Port: {HOST.PORT}"],
    ],
  },
  [EventSource.Internal]: {
    [Problem]: [
      "Internal problem: {EVENT.NAME}",
      ["{EVENT.NAME}", "Host: {HOST.NAME}", "Started: {EVENT.DATE} {EVENT.TIME}"],
    ],
    [Recovery]: [
      "Internal problem resolved: {EVENT.NAME}",
      ["{EVENT.NAME}", "Host: {HOST.NAME}", "Duration: {EVENT.DURATION}"],
    ],
  },
};

/** The text that is proposed for events of a source and a mode. */
export function proposedMessage(eventsource: string, recovery: string): MessageTemplate {
  const [subject, lines] = TEXTS[eventsource]?.[recovery] ?? ["", []];
  return { eventsource, recovery, subject, message: lines.join("\n") };
}
