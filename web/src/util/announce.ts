/** The bit of a pre-shared key among the accepted connections. */
export const PSK = 2;

/** How agents may announce themselves: bits of the API and their names. */
export const ANNOUNCED_BY = [
  [1, "No encryption"],
  [PSK, "Pre-shared key"],
] as const;

/** Settings of autoregistration as the form holds them; stored keys are never told. */
export interface AnnounceDraft {
  accept: number;
  identity: string;
  psk: string;
}

/** What is wrong, by field; the server has the last word. `hasKey`: one is stored. */
export function announceProblems(draft: AnnounceDraft, hasKey: boolean): Record<string, string> {
  const problems: Record<string, string> = {};
  if (draft.accept === 0) problems.accept = "Choose at least one connection type.";
  if ((draft.accept & PSK) === 0) return problems;
  const { identity, psk } = draft;
  if (!hasKey && !identity.trim()) problems.identity = "Enter a PSK identity.";
  if (!hasKey && !psk) problems.psk = "Enter a key.";
  if (psk && !/^([0-9a-f]{2}){16,256}$/i.test(psk)) {
    problems.psk = "The key must have 32 to 512 hexadecimal digits, an even number.";
  }
  return problems;
}

/** What `autoregistration.update` takes. */
export interface AnnounceParams {
  tls_accept: number;
  tls_psk_identity?: string;
  tls_psk?: string;
}

/** A draft without problems, as `autoregistration.update` takes it. */
export function announceParams({ accept, identity, psk }: AnnounceDraft): AnnounceParams {
  const keyed = (accept & PSK) !== 0;
  return {
    tls_accept: accept,
    tls_psk_identity: (keyed && identity.trim()) || undefined,
    tls_psk: (keyed && psk) || undefined,
  };
}
