import { expect, it } from "vitest";
import { settingsProblems } from "./settings-draft";

const OFF = {
  authentication_type: "0",
  ldap_auth_enabled: "0",
  ldap_case_sensitive: "1",
  ldap_userdirectoryid: "0",
  ldap_jit_status: "0",
  jit_provision_interval: "1h",
  disabled_usrgrpid: "0",
  passwd_min_length: "8",
  passwd_check_rules: "8",
  mfa_status: "0",
  mfaid: "0",
};
const LDAP = { ldap_auth_enabled: "1", ldap_userdirectoryid: "1" };

it.each([
  [{}, []],
  [{ passwd_min_length: "0" }, ["passwd_min_length"]],
  [{ passwd_min_length: "8.5" }, ["passwd_min_length"]],
  [{ authentication_type: "1" }, ["authentication_type"]],
  [{ authentication_type: "1", ...LDAP }, []],
  [{ ldap_auth_enabled: "1" }, ["ldap_userdirectoryid"]],
  [{ ...LDAP, ldap_jit_status: "1" }, ["disabled_usrgrpid"]],
  [{ ldap_jit_status: "1" }, []],
  [{ mfa_status: "1" }, ["mfaid"]],
])("problems of %s", (change, names) =>
  expect(Object.keys(settingsProblems({ ...OFF, ...change }))).toEqual(names),
);
