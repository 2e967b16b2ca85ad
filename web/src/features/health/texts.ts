/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  noProcessUtilisationHas: "No process utilisation has been reported yet.",
  vedettesHealth: "Vedette's health",
  theServerDoesNot: "The server does not monitor itself yet",
  createHostVedette: "Create host “Vedette”",
  createAHostNamed: "Create a host named “Vedette” and link the template “Vedette health” to it.",
  valuesPerSecond: "Values per second",
  queue: "Queue",
  processUtilisation: "Process utilisation",
  busiestProcesses: "Busiest processes",
  cacheUtilisation: "Cache utilisation",
  valueCachePerSecond: "Value cache, per second",
  hostName: (name: string) => `Host ${name}`,
} as const;
