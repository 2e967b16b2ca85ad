import {
  type QueryKey,
  type UseQueryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { type ComponentType, type ReactNode, useState } from "react";
import { Found } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { toast } from "~/ui/toast";
import { FormBar } from "./form-bar";
import { FormCard } from "./object-form";
import { mayOverwrite } from "./stale-save";
import { setSaving } from "./unsaved";
import type { Drafting } from "./use-draft";

/** What the form of a settings page gets. */
export interface SettingsOf<T> {
  settings: T;
  onSaved: () => void;
}

interface SettingsFormProps {
  drafting: Pick<Drafting<unknown>, "problems" | "check">;
  /** On the button, and after saving. */
  words: { save: string; saved: string };
  /** Asks the user about the effect of the draft; false: it is not saved. */
  confirm?: () => Promise<boolean>;
  save: () => Promise<unknown>;
  onSaved: () => void;
  children: ReactNode;
}

/** Changes settings of the server. */
export function SettingsForm(props: SettingsFormProps) {
  const { drafting, words } = props;
  const saving = useMutation({
    mutationFn: props.save,
    onSuccess: () => {
      toast(words.saved);
      props.onSaved();
    },
  });
  const submit = async () => {
    if (!drafting.check()) return;
    const isSure =
      (props.confirm === undefined || (await props.confirm())) &&
      (await mayOverwrite().catch(() => true));
    if (isSure) saving.mutate();
    else setSaving(false);
  };
  return (
    <FormCard onSubmit={() => void submit()}>
      {props.children}
      <FormBar
        save={words.save}
        busy={saving.isPending}
        error={saving.error}
        problems={drafting.problems}
      />
    </FormCard>
  );
}

interface SettingsPageProps<T, K extends QueryKey> {
  title: string;
  query: UseQueryOptions<T, Error, T, K> & { queryKey: K };
  form: ComponentType<SettingsOf<T>>;
}

function FreshForm<T, K extends QueryKey>(
  props: Omit<SettingsPageProps<T, K>, "title"> & { onSaved: () => void },
) {
  const found = useFresh(props.query);
  const Form = props.form;
  return (
    <Found query={found} gone={null}>
      {(settings) => <Form settings={settings} onSaved={props.onSaved} />}
    </Found>
  );
}

/** A form of settings. It starts again from the server after its own saves only. */
export function SettingsBody<T, K extends QueryKey>({
  query,
  form,
}: Omit<SettingsPageProps<T, K>, "title">) {
  const [saves, setSaves] = useState(0);
  const client = useQueryClient();
  const onSaved = () => {
    void client.invalidateQueries({ queryKey: query.queryKey });
    setSaves(saves + 1);
  };
  return <FreshForm key={saves} query={query} form={form} onSaved={onSaved} />;
}

/** A page with nothing but such a form. */
export function SettingsPage<T, K extends QueryKey>({ title, ...rest }: SettingsPageProps<T, K>) {
  return (
    <Page title={title} scroll>
      <SettingsBody {...rest} />
    </Page>
  );
}
