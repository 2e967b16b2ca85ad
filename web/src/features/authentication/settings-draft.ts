import type { Authentication } from "~/api/authentication";
import { texts } from "./texts";

/** Settings of the form. */
export const NAMES = [
  "authentication_type",
  "ldap_auth_enabled",
  "ldap_case_sensitive",
  "ldap_userdirectoryid",
  "ldap_jit_status",
  "jit_provision_interval",
  "disabled_usrgrpid",
  "passwd_min_length",
  "passwd_check_rules",
  "mfa_status",
  "mfaid",
] as const satisfies readonly (keyof Authentication)[];

const LENGTH_MAX = 70;

/** What is wrong with the settings; the server has the last word on the rest. */
export function settingsProblems(draft: Authentication): Record<string, string> {
  const problems: Record<string, string> = {};
  const is = (name: keyof Authentication) => draft[name] === "1";
  const length = Number(draft.passwd_min_length);
  if (!Number.isInteger(length) || length < 1 || length > LENGTH_MAX)
    problems.passwd_min_length = texts.lengthWrong;
  if (is("authentication_type") && !is("ldap_auth_enabled"))
    problems.authentication_type = texts.ldapIsOff;
  if (is("ldap_auth_enabled") && draft.ldap_userdirectoryid === "0")
    problems.ldap_userdirectoryid = texts.chooseServer;
  if (is("ldap_auth_enabled") && is("ldap_jit_status")) {
    if (draft.disabled_usrgrpid === "0") problems.disabled_usrgrpid = texts.chooseGroup;
    if (!draft.jit_provision_interval.trim()) problems.jit_provision_interval = texts.enterInterval;
  }
  if (is("mfa_status") && draft.mfaid === "0") problems.mfaid = texts.chooseMethod;
  return problems;
}

/** What is stored. */
export const settingsParams = (draft: Authentication): Authentication => ({
  ...draft,
  passwd_min_length: draft.passwd_min_length.trim(),
  jit_provision_interval: draft.jit_provision_interval.trim(),
});
