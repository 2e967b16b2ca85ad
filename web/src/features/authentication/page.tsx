import { getRouteApi } from "@tanstack/react-router";
import type { Directory, MfaRow } from "~/api/authentication";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Page } from "~/shared/page";
import { Button } from "~/ui/button";
import { Tabs } from "~/ui/segmented";
import { Directories } from "./directories";
import { DirectoryDialog } from "./directory-dialog";
import { MfaDialog, MfaMethods } from "./mfa";
import { Settings } from "./settings";
import { texts } from "./texts";

const route = getRouteApi("/inside/authentication");
type Tab = "settings" | "ldap" | "mfa";
const TABS: readonly (readonly [Tab, string])[] = [
  ["settings", texts.settings],
  ["ldap", texts.ldapServers],
  ["mfa", texts.mfaMethods],
];

/** What a dialog is open for; null stands for a new one. */
interface Editing {
  directory?: Directory | null;
  method?: MfaRow | null;
}

/** How users sign in. */
export function AuthenticationPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [editing, setEditing] = useKeptState<Editing>("dialog", {});
  const tab = TABS.find(([name]) => name === search.tab)?.[0] ?? "settings";
  const close = () => setEditing({});
  const create = (what: Editing, label: string) => (
    <Button look="primary" icon="plus" onClick={() => setEditing(what)}>
      {label}
    </Button>
  );
  return (
    <Page
      title={texts.authentication}
      scroll
      actions={
        <>
          {tab === "ldap" && create({ directory: null }, texts.createServer)}
          {tab === "mfa" && create({ method: null }, texts.createMethod)}
        </>
      }
      bar={
        <Tabs<Tab>
          label={texts.parts}
          value={tab}
          options={TABS}
          onChange={(value) =>
            void navigate({ search: { tab: value === "settings" ? undefined : value } })
          }
        />
      }
    >
      {tab === "settings" && <Settings />}
      {tab === "ldap" && <Directories onEdit={(directory) => setEditing({ directory })} />}
      {tab === "mfa" && <MfaMethods onEdit={(method) => setEditing({ method })} />}
      {editing.directory !== undefined && (
        <DirectoryDialog stored={editing.directory} onClose={close} />
      )}
      {editing.method !== undefined && <MfaDialog method={editing.method} onClose={close} />}
    </Page>
  );
}
