import type { Get, Ids, Many, One, Optional, Row } from "./gets";
import type * as schema from "./schema";
import type { Media, Right, RoleElement } from "./users";

interface RoleRules {
  ui: RoleElement[];
  "ui.default_access": string;
  actions: RoleElement[];
  "actions.default_access": string;
  "api.access": string;
  /** 0: the methods in `api` are refused; 1: only they are allowed. */
  "api.mode": string;
  api: string[];
}

export interface UserGets {
  "role.get": Get<
    schema.Role,
    { selectRules: One<"rules", RoleRules>; selectUsers: Many<"users", Row<schema.User>> },
    { roleids?: Ids }
  >;
  "token.get": Get<schema.Token, unknown, { tokenids?: Ids }>;
  "user.get": Get<
    Row<schema.User>,
    {
      selectRole: Optional<"role", schema.Role>;
      selectUsrgrps: Many<"usrgrps", schema.UserGroup>;
      selectMedias: Many<"medias", Media>;
    },
    { userids?: Ids }
  >;
  "usergroup.get": Get<
    schema.UserGroup,
    {
      selectUsers: Many<"users", Row<schema.User>>;
      selectHostGroupRights: Many<"hostgroup_rights", Right>;
      selectTemplateGroupRights: Many<"templategroup_rights", Right>;
    },
    { usrgrpids?: Ids }
  >;
}
