import type { ReactNode } from "react";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { SelectField, TextField } from "~/ui/field";
import { Tabs } from "~/ui/segmented";
import { moved } from "~/util/rows";
import { PAGES_MAX, type PageDraft, type Pages, withCopiedPage, withNewPage } from "./draft";
import { PERIODS, periodLabel } from "./periods";
import { texts } from "./texts";

interface PagesEditorProps {
  pages: Pages;
  page: PageDraft;
  onSelect: (key: string) => void;
  onChange: (pages: Pages) => void;
  /** At the end of the line with the page's settings. */
  children: ReactNode;
}

/** The pages of a dashboard: adds, names, orders, copies and deletes them. */
export function PagesEditor({ pages, page, onSelect, onChange, children }: PagesEditorProps) {
  const at = pages.findIndex(({ key }) => key === page.key);
  const label = (one: PageDraft, n: number) => one.name || texts.page(n + 1);
  const set = (next: Partial<PageDraft>) =>
    onChange(pages.map((one) => (one.key === page.key ? { ...one, ...next } : one)));
  const add = ([next, key]: [Pages, string]) => {
    onChange(next);
    onSelect(key);
  };
  const remove = async () => {
    const body = <p>{texts.widgetsGoToo}</p>;
    const action = texts.removePage;
    if (
      page.widgets.length > 0 &&
      !(await confirmed(texts.removePageQuestion(label(page, at)), body, action))
    )
      return;
    onSelect(pages[at === 0 ? 1 : at - 1]?.key ?? "");
    onChange(pages.filter(({ key }) => key !== page.key));
  };
  const isFull = pages.length >= PAGES_MAX;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1">
          <Tabs
            label={texts.pages}
            value={page.key}
            onChange={onSelect}
            options={pages.map((one, n) => [one.key, label(one, n)])}
          />
        </div>
        <Button
          small
          icon="plus"
          disabled={isFull}
          title={isFull ? texts.pagesMax(PAGES_MAX) : undefined}
          onClick={() => add(withNewPage(pages))}
        >
          {texts.addPage}
        </Button>
      </div>
      <div className="flex flex-wrap items-end gap-2">
        <TextField
          label={texts.pageName}
          fieldClass="w-48 max-sm:w-full"
          maxLength={255}
          placeholder={texts.page(at + 1)}
          value={page.name}
          onChange={(name) => set({ name })}
        />
        <SelectField
          label={texts.pagePeriod}
          fieldClass="w-40"
          options={[
            ["0", texts.asDashboard],
            ...PERIODS.map((one) => [one, periodLabel(one)] as const),
          ]}
          value={page.displayPeriod}
          onChange={(displayPeriod) => set({ displayPeriod })}
        />
        <IconButton
          icon="left"
          label={texts.pageLeft}
          disabled={at === 0}
          onClick={() => onChange(moved(pages, at, at - 1))}
        />
        <IconButton
          icon="right"
          label={texts.pageRight}
          disabled={at === pages.length - 1}
          onClick={() => onChange(moved(pages, at, at + 1))}
        />
        <IconButton
          icon="copy"
          label={texts.copyPage}
          disabled={isFull}
          onClick={() => add(withCopiedPage(pages, page.key))}
        />
        <IconButton
          icon="trash"
          label={texts.removePage}
          disabled={pages.length === 1}
          onClick={() => void remove()}
        />
        <div className="flex flex-wrap items-center gap-2 sm:ml-auto">{children}</div>
      </div>
    </div>
  );
}
