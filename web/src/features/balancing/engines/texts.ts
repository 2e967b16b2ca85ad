/** Texts of the engines' pages that users read, to be reviewed and translated in one place. */
export const texts = {
  engines: "Engines",
  engine: "Engine",
  engineWord: "engine",
  name: "Name",
  nameHint: "Also appears in transaction records.",
  group: "Engine group",
  description: "Description",
  choose: "Choose…",
  addEngine: "Add engine",
  noGroups: "An engine belongs to an engine group. Create the group first.",
  createGroup: "Create engine group",
  noEngines: "This group has no engines. Its virtual services need at least one.",
  noEnginesAtAll:
    "This group has no engines yet. Add an engine and start it with the command shown.",
  connections: (count: string) => `Open connections ${count}`,
  version: (version: string) => `Version ${version}`,
  since: (time: string) => `Connected since ${time}`,
  certificateUntil: (time: string) => `Certificate until ${time}`,
  waiting: (size: string) => `Unsent records ${size}`,
  unknown: "unknown",
  running: "Running",
  desired: "Desired",
  noHash: "none",
  groupMoves: "The engine gets the configuration of its new group.",
  deleteAction: "Delete",
  deleteLoss:
    "The server refuses the engine from now on. The engine continues with its last configuration until you stop it.",
  newTokenTitle: (name: string) => `New token for ${name}?`,
  newTokenLoss:
    "Older tokens of the engine stop working. A running engine keeps its connection until another one enrols with the new token.",
  generate: "Generate token",
  newToken: (name: string) => `New token for ${name}`,
  startEngine: (name: string) => `Start ${name}`,
  tokenOnce:
    "Run this command on the machine of the engine. The token is shown only now and works once.",
  tokenAgain: "If this machine was enrolled before, delete identity.pem in the data folder first.",
  tokenUntil: (time: string) => `The token is valid until ${time}.`,
  generating: "The token is being generated…",
  controller: "Server",
  controllerHint:
    "Host and port of the server's --engines parameter, as reachable from the engine.",
  controllerLocal:
    "This address only works on the server's own machine. Engines on other machines need a different one.",
  controllerWrong: "Enter a host and a port, such as monitor:10061.",
  data: "Data folder",
  dataHint: "Each engine needs its own data folder.",
  command: "Command",
  copyCommand: "Copy command",
  copied: "The command was copied.",
  done: "Done",
  created: (name: string) => `${name} was created.`,
  saved: (name: string) => `${name} was saved.`,
  editTitle: (name: string) => `Edit ${name}`,
  enterName: "Enter a name.",
  chooseGroup: "Choose an engine group.",
  allEngines: "All engines",
} as const;

/** What the server knows of an engine, in sentences. */
export const states = {
  neverNoToken: "Has never connected. It needs a token to enrol.",
  neverToken: (time: string) => `Has never connected. Its token is valid until ${time}.`,
  neverExpired: "Has never connected, and its token has expired.",
  connected: (ago: string) => `Connected, last report ${ago}`,
  gone: (ago: string) => `Not connected, last report ${ago}`,
  from: (words: string, address: string) => (address ? `${words} from ${address}` : words),
  unknown: "Its configuration is unknown.",
  current: "Runs the current configuration.",
  older: "Runs an older configuration. The current one is being sent.",
  none: "Runs no configuration yet. The current one is being sent.",
  refused: (why: string) => `Refuses the current configuration and keeps the older one: ${why}`,
  wasCurrent: "Had the current configuration when last seen.",
  wasOlder: "Had an older configuration when last seen; it is updated when it connects.",
  wasRefused: (why: string) => `Had refused a configuration when last seen: ${why}`,
} as const;

/** How far a configuration has come. */
export const rollouts = {
  nobody: "This group has no engines yet.",
  oneRefuses: "The engine refuses the current configuration.",
  oneWaits: "The engine is being updated to the current configuration.",
  oneAway: "The engine is not connected.",
  one: "The engine runs the current configuration.",
  all: (count: number) => `All ${count} engines run the current configuration.`,
  some: (current: number, count: number) =>
    `${current} of ${count} engines ${current === 1 ? "runs" : "run"} the current configuration`,
  refuse: (count: number) => (count === 1 ? "1 engine refuses it" : `${count} engines refuse it`),
  wait: (count: number) =>
    count === 1 ? "1 engine is being updated" : `${count} engines are being updated`,
  away: (count: number) =>
    count === 1 ? "1 engine is not connected" : `${count} engines are not connected`,
} as const;
