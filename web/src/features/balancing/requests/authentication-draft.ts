import { isSame, type Json, listOf, objectOf, put, textOf, words } from "./json";
import { problems as wrong } from "./texts";

/** What the API shows in the place of a stored secret, and takes as "keep it". */
export const HIDDEN = "******";
export const ALGORITHMS = ["RS256", "ES256", "EdDSA", "HS256"] as const;

/** A user of Basic authentication. */
export interface User {
  name: string;
  hash: string;
  /** The name under which the server has its hash; empty for a new user. */
  stored: string;
}

/** A key of tokens. */
export interface Key {
  original: Json;
  id: string;
  algorithm: string;
  key: string;
}

/** A request header that gets a claim. */
export interface Claim {
  claim: string;
  header: string;
}

/** A policy as the form holds it. Members of the other kind are empty. */
export interface Policy {
  kind: "basic" | "jwt";
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  name: string;
  realm: string;
  pass: boolean;
  users: User[];
  user_header: string;
  issuer: string;
  audience: string;
  leeway: string;
  keys: Key[];
  jwks: string;
  claims: Claim[];
}

/** Authentication as the form holds it. */
export interface AuthenticationDraft {
  original: Json;
  /** Name of the policy for requests for which no rule names one; empty: none. */
  require: string;
  policies: Policy[];
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

export function policyDraft(kind: Policy["kind"], original: Json): Policy {
  return {
    kind,
    original,
    name: textOf(original.name),
    realm: textOf(original.realm),
    pass: original.pass_authorization !== false,
    users: Object.entries(objectOf(original.users)).map(([name, hash]) => ({
      name,
      hash: textOf(hash),
      stored: name,
    })),
    user_header: textOf(original.user_header),
    issuer: textOf(original.issuer),
    audience: listOf(original.audience).map(textOf).join(" "),
    leeway: textOf(original.leeway),
    keys: listOf(original.keys).map((one) => {
      const key = objectOf(one);
      return {
        original: key,
        id: textOf(key.id),
        algorithm: textOf(key.algorithm),
        key: textOf(key.key),
      };
    }),
    jwks: textOf(original.jwks),
    claims: Object.entries(objectOf(original.claims)).map(([claim, header]) => ({
      claim,
      header: textOf(header),
    })),
  };
}

const filled = (text: string) => text.trim() || undefined;
const some = <T>(values: T[]) => (values.length ? values : undefined);
const members = (entries: [string, string][]) =>
  entries.length ? Object.fromEntries(entries) : undefined;

function policyJson(policy: Policy): Json {
  const common = {
    name: policy.name.trim(),
    realm: filled(policy.realm),
    pass_authorization: policy.pass ? "pass_authorization" in policy.original || undefined : false,
  };
  if (policy.kind === "basic") {
    return put(policy.original, {
      ...common,
      users: members(policy.users.map(({ name, hash }) => [name, hash.trim()])),
      user_header: filled(policy.user_header),
    });
  }
  return put(policy.original, {
    ...common,
    issuer: filled(policy.issuer),
    audience: some(words(policy.audience)),
    leeway: filled(policy.leeway),
    keys: some(
      policy.keys.map(({ original, id, algorithm, key }) =>
        put(original, { id: filled(id), algorithm, key }),
      ),
    ),
    jwks: policy.jwks.trim() ? policy.jwks : undefined,
    claims: members(policy.claims.map(({ claim, header }) => [claim.trim(), header.trim()])),
  });
}

/** Authentication in the form of the API. */
export function authenticationJson(draft: AuthenticationDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  const of = (kind: Policy["kind"]) =>
    some(draft.policies.filter((policy) => policy.kind === kind).map(policyJson));
  return put(draft.original, {
    require: draft.require || undefined,
    basic: of("basic"),
    jwt: of("jwt"),
  });
}

export function authenticationDraft(original: Json): AuthenticationDraft {
  const of = (kind: Policy["kind"]) =>
    listOf(original[kind]).map((one) => policyDraft(kind, objectOf(one)));
  const draft: AuthenticationDraft = {
    original,
    require: textOf(original.require),
    policies: [...of("basic"), ...of("jwt")],
    json: null,
  };
  if (isSame(original, authenticationJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

/** The names of the policies; undefined: they are edited as JSON. */
export const policyNames = (draft: AuthenticationDraft): string[] | undefined =>
  draft.json === null
    ? draft.policies.map((policy) => policy.name.trim()).filter(Boolean)
    : undefined;

type Found = Record<string, string>;

function userProblems({ users, original, name: policy }: Policy, found: Found, at: string): void {
  const isRenamed = textOf(original.name) !== policy.trim();
  users.forEach((user, n) => {
    const { name, hash, stored } = user;
    const same = users.filter((one) => one.name === name).length > 1;
    if (!name || name.includes(":")) found[`${at}.users${n}.name`] = wrong.userName;
    else if (same) found[`${at}.users${n}.name`] = wrong.userTwice;
    // The server finds a stored hash by the names of policy and user.
    if (hash === HIDDEN && (isRenamed || stored !== name)) {
      found[`${at}.users${n}.hash`] = wrong.renamed;
    } else if (hash !== HIDDEN && !hash.trim().startsWith("$")) {
      found[`${at}.users${n}.hash`] = wrong.hash;
    }
  });
  if (!users.length && !original.file) found[`${at}.users`] = wrong.noUser;
}

function tokenProblems(policy: Policy, found: Found, at: string): void {
  const isRenamed = textOf(policy.original.name) !== policy.name.trim();
  policy.keys.forEach(({ original, id, algorithm, key }, n) => {
    const isMoved = isRenamed || textOf(original.id) !== id.trim();
    const isPem = key.includes("-----BEGIN PUBLIC KEY-----");
    let problem: string | undefined;
    if (key === HIDDEN) problem = algorithm !== "HS256" || isMoved ? wrong.renamed : undefined;
    else if (algorithm === "HS256") problem = key.length < 32 || isPem ? wrong.secret : undefined;
    else problem = isPem ? undefined : wrong.publicKey;
    if (problem) found[`${at}.keys${n}.key`] = problem;
  });
  if (!policy.keys.length && !policy.jwks.trim()) found[`${at}.keys`] = wrong.noKey;
  // Text that is no JSON would be the name of a file, which the server refuses.
  if (policy.jwks.trim() && !policy.jwks.trim().startsWith("{")) found[`${at}.jwks`] = wrong.jwks;
  policy.claims.forEach(({ claim, header }, n) => {
    const same = policy.claims.filter((one) => one.claim.trim() === claim.trim()).length > 1;
    if (!claim.trim() || !header.trim() || same) found[`${at}.claims${n}`] = wrong.claim;
  });
}

/** What is wrong, by field, such as `policy0.users1.hash`. */
export function authenticationProblems(draft: AuthenticationDraft): Found {
  const found: Found = {};
  if (draft.json !== null) return found;
  draft.policies.forEach((policy, n) => {
    const name = policy.name.trim();
    const same = draft.policies.filter((one) => one.name.trim() === name).length > 1;
    if (!name || name === "none") found[`policy${n}.name`] = wrong.policyName;
    else if (same) found[`policy${n}.name`] = wrong.policyTwice;
    (policy.kind === "basic" ? userProblems : tokenProblems)(policy, found, `policy${n}`);
  });
  if (draft.require && !draft.policies.some((one) => one.name.trim() === draft.require)) {
    found.require = wrong.noPolicy;
  }
  return found;
}

/** The policy and the field that a refusal of the server names, such as `jwt/1/keys/2/key: …`. */
export function refusedPolicy(draft: AuthenticationDraft, refusal: string | undefined): Found {
  if (!refusal || draft.json !== null) return {};
  const place = /^(basic|jwt)\/(\d+)((?:\/\w+)*): (.*)$/s.exec(refusal);
  if (place) {
    const [, kind, number, path = "", why = ""] = place;
    const own = draft.policies.filter((policy) => policy.kind === kind);
    const at = draft.policies.indexOf(own[Number(number) - 1] as Policy);
    const key = /^\/keys\/(\d+)\/key$/.exec(path);
    const field = key ? `.keys${Number(key[1]) - 1}.key` : path === "/jwks" ? ".jwks" : "";
    return at < 0 ? {} : { [`policy${at}${field}`]: why };
  }
  const [, name, why = ""] = /policy '([^']*)': (.*)$/s.exec(refusal) ?? [];
  const at = draft.policies.findIndex((policy) => policy.name.trim() === name);
  if (at < 0) return {};
  const [, user, reason = ""] = /^user '([^']*)': (.*)$/s.exec(why) ?? [];
  const row = draft.policies[at]?.users.findIndex((one) => one.name === user) ?? -1;
  return row < 0 ? { [`policy${at}`]: why } : { [`policy${at}.users${row}.hash`]: reason };
}
