/** Fields of alerting that `get` returns only if `output` names them: `schema.ts` has those of "extend". */

type Flag = "0" | "1" | 0 | 1;

/** Messages to the same address about problems with equal values are sent together. */
export interface Grouping {
  /** Names of tags, and `{HOST.HOST}`. */
  by: string[];
  /** From the first message to the summary. */
  wait: string;
  /** Between summaries of additions. */
  interval: string;
  /** Until a summary of what is still open is sent again; "0": never. */
  repeat: string;
}

/** An escalation waits while a more severe problem has equal values of all these tags. */
export interface Inhibition {
  tags: string[];
}

/** What is not told of triggers whose problems end soon, or change often. */
export interface Calming {
  transients: Flag;
  flapping: Flag;
  /** The longest that a message waits. */
  max_hold: string;
}

export interface ActionOwn {
  grouping: Grouping | null;
  inhibition: Inhibition | null;
  calming: Calming | null;
}

/** Messages to an address within a time; what exceeds them is sent as one digest. */
export interface StormLimit {
  messages: string | number;
  period: string;
}

export interface MediaTypeOwn {
  storm_limit: StormLimit | null;
  /** What sends messages that failed for good; "0": nothing. */
  fallback_mediatypeid: string;
  /** "1": messages about a problem to an address are sent one after the other. */
  living: string;
  /** "1": the receiver takes each message once; after a crash it gets those without a known outcome again. */
  deduplicates: string;
  /** E-mail: replies to this address become comments; "": no replies. */
  reply_address: string;
}

export interface AlertOwn {
  /** Why it was withheld, also after it was sent; "0": it was not. */
  withheld: string;
  /** The message that tells of it; "0": none yet. */
  carrierid: string;
}
