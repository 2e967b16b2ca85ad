/** Who is signed in. */
export interface Session {
  token: string;
  userid: string;
  username: string;
  /** First and last name, or the user name where neither is set. */
  displayName: string;
  /** 1 user, 2 admin, 3 super admin. */
  type: number;
  /** The user interface elements and actions that the role denies. */
  denied?: readonly string[];
}

/** Actions of a role's rules. */
export type RoleAction =
  | "acknowledge_problems"
  | "suppress_problems"
  | "close_problems"
  | "change_severity"
  | "add_problem_comments"
  | "manage_api_tokens"
  | "edit_maintenance"
  | "invoke_execute_now"
  | "execute_scripts";

export type EndReason = "expired" | "signed-out";

const KEY = "vedette.session";
let current: Session | null = read();
let reason: EndReason | null = null;
const listeners = new Set<() => void>();

function read(): Session | null {
  const text = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
  if (!text) return null;
  try {
    const value = JSON.parse(text) as Session;
    return typeof value.token === "string" ? value : null;
  } catch {
    return null;
  }
}

function notify(): void {
  for (const listener of listeners) listener();
}

export function session(): Session | null {
  return current;
}

export function sessionToken(): string | null {
  return current?.token ?? null;
}

/** Whether the user's role allows this action or user interface element of its type. */
export function allows(name: RoleAction | (string & Record<never, never>)): boolean {
  return current !== null && !current.denied?.includes(name);
}

/** Whether the user's type and role allow configuring hosts, or templates, and what belongs to them. */
export function mayConfigure(owners: "hosts" | "templates" = "hosts"): boolean {
  return (current?.type ?? 0) >= 2 && allows(`configuration.${owners}`);
}

/** Replaces what the role denies, in the session and where it is kept. */
export function setDenied(denied: readonly string[]): void {
  if (!current || JSON.stringify(current.denied) === JSON.stringify(denied)) return;
  current = { ...current, denied };
  const store = sessionStorage.getItem(KEY) ? sessionStorage : localStorage;
  store.setItem(KEY, JSON.stringify(current));
  notify();
}

/** Why the last session ended, for the sign-in page. */
export function endReason(): EndReason | null {
  return reason;
}

/** Keeps the session for this tab, or with `remember` for this browser. */
export function beginSession(next: Session, remember: boolean): void {
  current = next;
  reason = null;
  (remember ? localStorage : sessionStorage).setItem(KEY, JSON.stringify(next));
  notify();
}

export function endSession(why: EndReason): void {
  if (!current) return;
  current = null;
  reason = why;
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
  notify();
}

export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
