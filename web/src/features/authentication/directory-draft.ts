import type { Directory, DirectoryInput, MappedGroup, MappedMedia } from "~/api/authentication";

/** An LDAP server as the dialog holds it. */
export interface DirectoryDraft {
  name: string;
  host: string;
  port: string;
  base_dn: string;
  search_attribute: string;
  bind_dn: string;
  /** Empty: the stored one stays. */
  bind_password: string;
  startTls: boolean;
  search_filter: string;
  description: string;
  provisions: boolean;
  /** The groups are in an attribute of the user; otherwise they are searched. */
  byAttribute: boolean;
  group_membership: string;
  group_name: string;
  group_basedn: string;
  group_member: string;
  user_ref_attr: string;
  group_filter: string;
  user_username: string;
  user_lastname: string;
  groups: MappedGroup[];
  media: MappedMedia[];
}

export const NEW_GROUP: MappedGroup = { name: "", roleid: "", user_groups: [] };

export const newMedium = (mediatypeid: string): MappedMedia => ({
  name: "",
  mediatypeid,
  attribute: "mail",
  active: "0",
  severity: "63",
  period: "1-7,00:00-24:00",
});

export function directoryDraft(stored: Directory | null): DirectoryDraft {
  return {
    name: stored?.name ?? "",
    host: stored?.host ?? "",
    port: stored?.port ?? "389",
    base_dn: stored?.base_dn ?? "",
    search_attribute: stored?.search_attribute ?? "uid",
    bind_dn: stored?.bind_dn ?? "",
    bind_password: "",
    startTls: stored?.start_tls === "1",
    search_filter: stored?.search_filter ?? "",
    description: stored?.description ?? "",
    provisions: stored?.provision_status === "1",
    byAttribute: !stored?.group_basedn,
    group_membership: stored?.group_membership || "memberOf",
    group_name: stored?.group_name || "cn",
    group_basedn: stored?.group_basedn ?? "",
    group_member: stored?.group_member || "member",
    user_ref_attr: stored?.user_ref_attr ?? "",
    group_filter: stored?.group_filter ?? "",
    user_username: stored?.user_username ?? "",
    user_lastname: stored?.user_lastname ?? "",
    groups: stored?.provision_groups ?? [],
    media: stored?.provision_media ?? [],
  };
}

/** A stored password is not sent to another server or in clear text. */
const needsPassword = (draft: DirectoryDraft, stored: Directory) =>
  draft.bind_dn.trim() !== "" &&
  draft.bind_password === "" &&
  stored.bind_dn !== "" &&
  (draft.host.trim() !== stored.host ||
    draft.port.trim() !== stored.port ||
    (stored.start_tls === "1" && !draft.startTls));

/** Why the server cannot be saved yet; the server has the last word on the rest. */
export function directoryProblem(
  draft: DirectoryDraft,
  stored: Directory | null,
): string | undefined {
  if (!draft.name.trim()) return "Enter a name.";
  if (!draft.host.trim()) return "Enter the host.";
  if (!/^\d+$/.test(draft.port.trim())) return "Enter the port.";
  if (!draft.base_dn.trim()) return "Enter the base DN.";
  if (!draft.search_attribute.trim()) return "Enter the search attribute.";
  if (stored && needsPassword(draft, stored)) return "Enter the bind password for this host.";
  if (!draft.provisions) return undefined;
  if (!draft.byAttribute && !draft.group_basedn.trim()) return "Enter the group base DN.";
  if (draft.groups.length === 0) return "Add a group mapping.";
  if (draft.groups.some((one) => !one.name.trim() || !one.roleid || !one.user_groups.length))
    return "Each group mapping needs a group, a role and user groups.";
  if (draft.media.some((one) => !one.name.trim() || !one.mediatypeid || !one.attribute.trim()))
    return "Each media mapping needs a name, a media type and an attribute.";
  return undefined;
}

/** How the groups of a user are found; what the other way needs is emptied. */
function groupParams(draft: DirectoryDraft): DirectoryInput {
  const search = {
    group_basedn: draft.group_basedn.trim(),
    group_member: draft.group_member.trim(),
    user_ref_attr: draft.user_ref_attr.trim(),
    group_filter: draft.group_filter.trim(),
    group_membership: "",
  };
  const attribute = {
    group_basedn: "",
    group_member: "",
    user_ref_attr: "",
    group_filter: "",
    group_membership: draft.group_membership.trim(),
  };
  return {
    idp_type: "1",
    group_name: draft.group_name.trim(),
    ...(draft.byAttribute ? attribute : search),
  };
}

/** A draft without problems, as `userdirectory.create`, `.update` and `.test` take it. */
export function directoryParams(draft: DirectoryDraft): DirectoryInput {
  const provisioning = draft.provisions && {
    ...groupParams(draft),
    user_username: draft.user_username.trim(),
    user_lastname: draft.user_lastname.trim(),
    provision_groups: draft.groups.map((one) => ({ ...one, name: one.name.trim() })),
    provision_media: draft.media.map((one) => ({
      ...one,
      name: one.name.trim(),
      attribute: one.attribute.trim(),
    })),
  };
  const bindDn = draft.bind_dn.trim();
  // A password without its DN is of no use.
  const password = !bindDn
    ? { bind_password: "" }
    : draft.bind_password && { bind_password: draft.bind_password };
  return {
    idp_type: "1",
    name: draft.name.trim(),
    host: draft.host.trim(),
    port: draft.port.trim(),
    base_dn: draft.base_dn.trim(),
    search_attribute: draft.search_attribute.trim(),
    bind_dn: bindDn,
    ...password,
    start_tls: draft.startTls ? "1" : "0",
    search_filter: draft.search_filter.trim(),
    description: draft.description,
    provision_status: draft.provisions ? "1" : "0",
    ...provisioning,
  };
}
