/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  limitsFirst: "limits first",
  firstLimitReached: "First limit reached",
  diskFull: "Disk full",
  cores: "Cores",
  measuredLimits: "Measured limits",
  data: "--data",
  capacity: "Capacity",
  full: "full",
  theLimitsOfThis:
    "The limits of this machine have not been measured yet. While the load is low, run",
  onThisMachineWith: "on this machine with the server's",
  itTakesAFew: ". It takes a few minutes and uses a separate server process.",
  cpuSecondsPerMillion: "CPU seconds per million",
  version: "Version",
  on: "on",
  coresText: "cores,",
  withTheLoadGenerator: ", with the load generator on the same machine. Run",
  toMeasureAgain: "to measure again.",
} as const;
