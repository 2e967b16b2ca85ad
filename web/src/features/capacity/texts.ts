/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  limitsFirst: "limits first",
  firstLimitReached: "First limit reached",
  diskFull: "Disk full",
  cores: "Cores",
  measuredLimits: "Measured limits",
  data: "--data",
  capacity: "Capacity",
  fullIn: (time: string) => `full ${time}`,
  theLimitsOfThis:
    "The limits of this machine have not been measured yet. While the load is low, run {command} on this machine with the server's {data}. It takes a few minutes and uses a separate server process.",
  cpuSecondsPerMillion: (seconds: string, what: string) =>
    `${seconds} CPU seconds per million ${what}`,
  measuredWith: (version: string, cores: string, time: string, command: string) =>
    `Version ${version} on ${cores} cores, ${time}, with the load generator on the same machine. Run ${command} to measure again.`,
} as const;
