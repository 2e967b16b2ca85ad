import type { ReactNode } from "react";
import type { Reads } from "~/api/windows";
import { Button } from "~/ui/button";
import type { IconName } from "~/ui/icon";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatCount } from "~/util/format";
import { QueryError, StaleError } from "./fallback";
import { Count, Page, Sheet } from "./page";
import { texts } from "./texts";

interface ListPageProps {
  title: string;
  /** Beside the title: how many rows there are, or what else is to be said of their number. */
  count?: ReactNode;
  actions?: ReactNode;
  filters: ReactNode;
  /** Takes all filters away; present while one narrows the list. */
  onClear?: () => void;
  query: Reads;
  /** Dialogs of the page. */
  beside?: ReactNode;
  /** The table; nothing while its rows are on their way. */
  children: ReactNode;
}

/** The frame of a page that is one table: its filters, and what is shown before it has rows. */
export function ListPage(props: ListPageProps) {
  const { title, count, query, onClear } = props;
  const words = typeof count === "number" ? formatCount(count) : count;
  return (
    <Page
      title={title}
      heading={
        <>
          {title}
          {words !== undefined && <Count>{words}</Count>}
        </>
      }
      actions={props.actions}
      filters
      bar={
        <>
          {props.filters}
          {onClear && (
            <Button look="quiet" onClick={onClear}>
              {texts.clearFilters}
            </Button>
          )}
        </>
      }
    >
      {query.error && query.dataUpdatedAt === 0 ? (
        <QueryError
          error={query.error}
          onRetry={() => void query.refetch()}
          className={props.children ? "mb-2" : undefined}
        />
      ) : (
        <StaleError query={query} className="mb-2" />
      )}
      {(props.children || !query.error) && (
        <Sheet>{props.children || <SkeletonRows rows={12} />}</Sheet>
      )}
      {props.beside}
    </Page>
  );
}

interface NoRowsProps {
  icon: IconName;
  /** What the rows are, such as "host". */
  word: string;
  onClear?: () => void;
  /** How to get the first one. */
  action?: ReactNode;
  children: ReactNode;
}

/** A list without rows: because of its filters, or because nothing is there yet. */
export function NoRows({ icon, word, onClear, action, children }: NoRowsProps) {
  return onClear ? (
    <Empty
      icon={icon}
      title={texts.noMatchesTheseFilters(word)}
      action={<Button onClick={onClear}>{texts.clearFilters}</Button>}
    >
      {texts.changeOrClearThe}
    </Empty>
  ) : (
    <Empty icon={icon} title={texts.noYet(word)} action={action}>
      {children}
    </Empty>
  );
}
