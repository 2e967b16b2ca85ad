/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  limitsFirst: "limits first",
  firstLimitReached: "First limit reached",
  diskFull: "Disk full",
  cores: "Cores",
  measuredLimits: "Measured limits",
  data: "--data",
  capacity: "Capacity",
} as const;
