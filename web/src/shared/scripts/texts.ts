import { plural } from "~/util/format";

/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  runOn: (name: string) => `Run script on ${name}`,
  runName: (script: string, on: string) => `${script} on ${on}`,
  run: "Run",
  runScript: "Run script…",
  runScriptOn: (name: string) => `Run script on ${name}`,
  close: "Close",
  cancel: "Cancel",
  back: "All scripts",
  next: "Continue",
  searchScripts: "Search scripts",
  scripts: "Scripts",
  noMatches: "No script matches this search.",
  noScripts: "No scripts here",
  noScriptsOfHost:
    "No script for hosts is available to you on this host. An administrator creates scripts in Alerts → Scripts.",
  noScriptsOfEvent:
    "No script for problems is available to you here. An administrator creates scripts in Alerts → Scripts.",
  input: "Input",
  choose: "Choose…",
  runNow: "The script runs as soon as you press Run.",
  running: (seconds: string) => `Running for ${seconds}…`,
  keepsRunning: "The script continues if you close this window, but its output is lost.",
  succeeded: (ms: string) => `Succeeded in ${ms}`,
  failed: (ms: string) => `Failed after ${ms}`,
  output: "Output",
  noOutput: "The script returned no output.",
  cut: (shown: string, all: string) => `The first ${shown} of ${all} characters are shown.`,
  download: "Download output",
  log: (lines: number) => `Log: ${plural(lines, "line")}`,
  again: "Run again",
  open: "Open",
  opensUrl: "The script opens this address:",
  notOpened:
    "This address cannot be opened from here. Only http, https, ftp, file, mailto, tel and ssh are allowed.",
} as const;
