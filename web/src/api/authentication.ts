import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import type { Members } from "./methods";
import type * as schema from "./schema";
import type { Confirmation } from "./users";

/** How users sign in. Switches are "0" or "1". */
export interface Authentication {
  /** "0": internal, "1": LDAP. */
  authentication_type: string;
  ldap_auth_enabled: string;
  ldap_case_sensitive: string;
  ldap_userdirectoryid: string;
  ldap_jit_status: string;
  jit_provision_interval: string;
  disabled_usrgrpid: string;
  passwd_min_length: string;
  /** Sum of the rules: 1 letter case, 2 digits, 4 special characters, 8 nothing easily guessed. */
  passwd_check_rules: string;
  mfa_status: string;
  mfaid: string;
}

/** A group of the directory, with what its members become. */
export interface MappedGroup {
  /** "*" stands for any characters. */
  name: string;
  roleid: string;
  user_groups: { usrgrpid: string }[];
}

/** A medium that provisioned users get. */
export interface MappedMedia {
  userdirectory_mediaid?: string;
  name: string;
  mediatypeid: string;
  /** Attribute of the user's entry with the address. */
  attribute: string;
  /** "1": off. */
  active: string;
  /** A bit for each severity. */
  severity: string;
  period: string;
}

interface Mapping {
  provision_groups: MappedGroup[];
  provision_media: MappedMedia[];
}

/** An LDAP server. */
export type Directory = schema.UserDirectory & Mapping;

/** As `userdirectory.create` takes it. */
export type DirectoryInput = Omit<schema.UserDirectoryInput, keyof Mapping> & Partial<Mapping>;

export interface SignInGets {
  "mfa.get": Get<
    schema.MfaMethod,
    { selectUsrgrps: Many<"usrgrps", schema.UserGroup> },
    { mfaids?: Ids }
  >;
  "userdirectory.get": Get<
    schema.UserDirectory,
    {
      selectUsrgrps: Many<"usrgrps", schema.UserGroup>;
      selectProvisionGroups: Many<"provision_groups", MappedGroup>;
      selectProvisionMedia: Many<"provision_media", MappedMedia>;
    },
    { userdirectoryids?: Ids }
  >;
}

/** Who signs in with a test. */
interface TestUser {
  test_username: string;
  test_password: string;
}

/** What the user of a test becomes; without provisioning only the name. */
export interface TestAnswer {
  username: string;
  name?: string;
  surname?: string;
  roleid?: string | number;
  usrgrps?: { usrgrpid: string }[];
  medias?: { name: string; sendto: string[] }[];
}

export interface SignInMethods {
  "authentication.get": {
    params: { output: readonly (keyof Authentication)[] };
    result: Authentication;
  };
  "authentication.update": { params: Partial<Authentication>; result: string[] };
  "userdirectory.test": {
    params: Omit<DirectoryInput, "name" | "description"> & TestUser & { userdirectoryid?: string };
    result: TestAnswer;
  };
  "user.provision": { params: string[]; result: { userids: string[] } };
  "user.replacetotp": {
    params: Record<never, never> | { code: string; current_code: string };
    result: Confirmation | true;
  };
  "user.resettotp": { params: string[]; result: { userids: string[] } };
}

export const authenticationQuery = (output: readonly (keyof Authentication)[]) =>
  queryOptions({
    queryKey: ["authentication", ...output],
    queryFn: ({ signal }) => rpc("authentication.get", { output }, signal),
    meta: { live: "config" },
  });

export const saveAuthentication = (settings: Partial<Authentication>) =>
  rpc("authentication.update", settings);

export const directoriesQuery = () =>
  queryOptions({
    queryKey: ["directories"],
    queryFn: ({ signal }): Promise<Directory[]> =>
      rpc(
        "userdirectory.get",
        {
          output: "extend",
          selectProvisionGroups: "extend",
          selectProvisionMedia: "extend",
          filter: { idp_type: "1" },
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });

/** Creates an LDAP server, or changes the one given. */
export function saveDirectory(
  userdirectoryid: string | null,
  directory: DirectoryInput,
): Promise<unknown> {
  if (!userdirectoryid) return rpc("userdirectory.create", directory);
  const { idp_type: _type, ...change } = directory;
  return rpc("userdirectory.update", { userdirectoryid, ...change });
}

export function deleteDirectory(userdirectoryid: string): Promise<unknown> {
  return rpc("userdirectory.delete", [userdirectoryid]);
}

/** Signs in at an LDAP server without opening a session; what is not given is that of the stored server. */
export function testDirectory(
  userdirectoryid: string | null,
  directory: DirectoryInput,
  user: TestUser,
): Promise<TestAnswer> {
  const { name: _name, description: _description, ...settings } = directory;
  const stored = userdirectoryid ? { userdirectoryid } : {};
  return rpc("userdirectory.test", { ...stored, ...settings, ...user });
}

/** An MFA method with the user groups that require it. */
export interface MfaRow extends schema.MfaMethod {
  usrgrps: { usrgrpid: string; name: string }[];
}

export const mfaQuery = () =>
  queryOptions({
    queryKey: ["mfa"],
    queryFn: ({ signal }): Promise<MfaRow[]> =>
      rpc(
        "mfa.get",
        { output: "extend", selectUsrgrps: ["usrgrpid", "name"], sortfield: "name" },
        signal,
      ),
    meta: { live: "config" },
  });

/** Creates an MFA method, or changes the one given. */
export function saveMfa(mfaid: string | null, method: Members<"mfa">): Promise<unknown> {
  return mfaid ? rpc("mfa.update", { mfaid, ...method }) : rpc("mfa.create", method);
}

export function deleteMfa(mfaid: string): Promise<unknown> {
  return rpc("mfa.delete", [mfaid]);
}

/** Removes the authenticator of a user, who enrols another one at the next sign-in. */
export function resetTotp(userid: string): Promise<unknown> {
  return rpc("user.resettotp", [userid]);
}

/** The secret of an authenticator that replaces the one's own; nothing has changed yet. */
export async function offerTotp(): Promise<Confirmation | null> {
  const answer = await rpc("user.replacetotp", {});
  return answer === true ? null : answer;
}

/** Replaces the own authenticator, with a code of the new and of the old one. */
export function replaceTotp(code: string, current_code: string): Promise<unknown> {
  return rpc("user.replacetotp", { code, current_code });
}

/** Reads a provisioned user from the directory again. The answer: whether that was possible. */
export async function provisionUser(userid: string): Promise<boolean> {
  const { userids } = await rpc("user.provision", [userid]);
  return userids.length > 0;
}
