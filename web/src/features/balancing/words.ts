import { texts } from "./texts";

export const ALGORITHMS = [
  ["round_robin", texts.roundRobin],
  ["least_connections", texts.leastConnections],
  ["least_load", texts.leastLoad],
  ["random", texts.random],
  ["source_hash", texts.sourceHash],
  ["uri_hash", texts.uriHash],
  ["header_hash", texts.headerHash],
] as const;

export const STATES = [
  ["up", texts.up],
  ["drain", texts.drain],
  ["down", texts.down],
] as const;

export const algorithmName = (algorithm: string) =>
  ALGORITHMS.find(([value]) => value === algorithm)?.[1] ?? algorithm;
