import { EventSource } from "~/api/schema";
import type { ActionSource } from "~/util/actions";

const WITHOUT: Record<ActionSource, string> = {
  [EventSource.Trigger]: "Without conditions, the action applies to all problems of triggers.",
  [EventSource.Service]: "Without conditions, the action applies to all services.",
  [EventSource.Discovery]: "Without conditions, the action applies to all discovery results.",
  [EventSource.Autoregistration]: "Without conditions, the action applies to all active agents.",
  [EventSource.Internal]: "Without conditions, the action applies to all internal events.",
};
const CHECKED: Record<ActionSource, string> = {
  [EventSource.Trigger]: "Checked once, when a problem begins.",
  [EventSource.Service]: "Checked once, when a service gets a problem.",
  [EventSource.Discovery]: "Checked for each discovery event of a host or a service.",
  [EventSource.Autoregistration]:
    "Checked when an agent registers and when its registration data changes.",
  [EventSource.Internal]: "Checked once, when an item, a rule or a trigger stops working.",
};
const PURPOSE: Record<ActionSource, string> = {
  [EventSource.Trigger]:
    "Nobody is notified of problems. An action tells users and user groups, step by step.",
  [EventSource.Service]: "An action notifies users when the status of a service changes.",
  [EventSource.Discovery]:
    "An action creates hosts for devices that discovery rules find, adds them to host groups and links templates.",
  [EventSource.Autoregistration]:
    "An action creates hosts for active agents that are not registered yet and meet its conditions.",
  [EventSource.Internal]:
    "An action notifies users of items and rules that are not supported and of triggers that are unknown.",
};

/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  conditionValue: "Condition value",
  typeOfCalculation: "Type of calculation",
  condition: "Condition",
  conditionOperator: "Condition operator",
  removeCondition: "Remove condition",
  formula: "Formula",
  useAndOrNot: "Use and, or, not and parentheses, such as A and (B or C).",
  addCondition: "Add condition",
  editAction: "Edit action",
  thisActionDoesNot: "This action does not exist",
  action: "action",
  actionLabel: "Action",
  name: "Name",
  enabled: "Enabled",
  conditions: "Conditions",
  operations: "Operations",
  inventoryMode: "Inventory mode",
  operation: "Operation",
  removeOperation: "Remove operation",
  addOperation: "Add operation",
  createAction: "Create action",
  eventSource: "Event source",
  noActions: "No actions",
  operationNumber: (number: number) => `Operation ${number}`,
  createActionText: (what: string) => `Create ${what} action`,
  editName: (name: string) => `Edit ${name}`,
  withoutConditions: (source: ActionSource) => WITHOUT[source],
  conditionsNote: (source: ActionSource) => CHECKED[source],
  purpose: (source: ActionSource) => PURPOSE[source],
  actionsOf: (source: string) => `${source} actions`,
  always: "Always",
  choose: "Choose…",
  tag: "Tag",
  conditionTag: "Tag of the condition",
  conditionNumber: (number: string) => `Condition ${number}`,
  triggers: "Triggers",
  scriptsAreKept: "The script and where it runs are kept as they are.",
  userGroups: "User groups",
  users: "Users",
  sendBy: "Send by",
  allMediaTypes: "All media types of each user",
  ownText: "Own text instead of the media type's",
  subject: "Subject",
  message: "Message",
  allProblems: "All",
  unacknowledgedProblems: "Only unacknowledged",
  acknowledgedProblems: "Only acknowledged",
  bothConditions: "Acknowledged and unacknowledged",
  problems: "Problems",
  fromStep: "From step",
  toStep: "To step",
  ownDuration: "Step duration",
  steps: "Steps",
  stepsNote: "Step 1 begins at once. Each step begins after the duration of the one before.",
  stepDuration: "Default step duration",
  stepDurationHint: "Such as 30m or 1h; global macros can be used.",
  pauseSuppressed: "Wait while the problem is suppressed",
  pauseSymptoms: "Wait while the problem is a symptom",
  notifyCanceled: "Tell those who were notified if the escalation is cancelled",
  operationsNote: "To step 0: repeated until the problem ends.",
  hostOperationsNote: "Operations that add something create the host if it does not exist.",
  recoveryOperations: "Recovery operations",
  recoveryNote: "Done at once when the problem ends.",
  updateOperations: "Update operations",
  updateNote: (source: ActionSource) =>
    source === EventSource.Service
      ? "Done when the status of the service changes."
      : "Done when a user acknowledges, comments on or changes a problem.",
  escalation: "Escalation",
  escalationNote: "Who is notified when, if the problem lasts.",
  lossOfHosts: "Hosts that it created are kept.",
  lossOfMessages: "Its running escalations end, and its messages leave the action log.",
  nobodyYet: "Nobody yet",
  nobodyIsNotified: "Nobody is notified of the problem.",
  nobodyOfUpdates: "Nobody is notified of changes.",
  nobodyOfTheEnd: "Nobody is notified of the end.",
  byMedia: (name: string) => `by ${name}`,
  withOwnText: "own text",
  typeIsOff: "The media type is disabled: messages fail.",
  atOnce: "At once",
  atEachUpdate: (source: ActionSource) =>
    source === EventSource.Service ? "When the status changes" : "At each change by a user",
  atTheEnd: "When the problem ends",
  paused: (suppressed: boolean, symptoms: boolean) =>
    `Steps wait while the problem is ${[suppressed && "suppressed", symptoms && "a symptom"].filter(Boolean).join(" or ")}.`,
} as const;
