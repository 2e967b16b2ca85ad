import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { Button, buttonClass } from "~/ui/button";
import type { IconName } from "~/ui/icon";
import { Empty, ErrorNote, SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { formatClock, formatDuration } from "~/util/time";
import { texts } from "./texts";

/** In place of a page, with the way to the overview. */
function NoPage(props: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <Empty
      {...props}
      className="h-full"
      action={
        <Link to="/" className={buttonClass("primary")}>
          {texts.goToTheOverview}
        </Link>
      }
    />
  );
}

export function NotFound() {
  return (
    <NoPage icon="search" title={texts.pageNotFound}>
      {texts.checkTheAddressOr}
    </NoPage>
  );
}

/** In place of a page that the user's role denies. */
export function NoPermission() {
  return (
    <NoPage icon="key" title={texts.youDoNotHave}>
      {texts.yourUserRoleDoes}
    </NoPage>
  );
}

/** What is left when a page breaks: the rest of the application goes on. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const { what, todo } = explain(error);
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-3 p-8">
      <ErrorNote what={texts.errorOnThisPage(what)} todo={todo} />
      <div className="flex gap-2">
        <Button look="primary" onClick={reset}>
          {texts.tryAgain}
        </Button>
        <Button onClick={() => location.reload()}>{texts.reload}</Button>
      </div>
    </div>
  );
}

/** The error of a query, with a way to try again. */
export function QueryError({
  error,
  onRetry,
  className,
}: {
  error: unknown;
  onRetry?: () => void;
  className?: string;
}) {
  const { what, todo } = explain(error);
  return <ErrorNote what={what} todo={todo} onRetry={onRetry} className={className} />;
}

interface StaleProps {
  query: { error: Error | null; dataUpdatedAt: number; refetch: () => unknown };
  className?: string;
}

/**
 * The error of a query above the data that it read before, with their age. Nothing without an error or
 * without data. If the server does not respond, the banner of the page says so.
 */
export function StaleError({ query, className }: StaleProps) {
  const { error, dataUpdatedAt, refetch } = query;
  if (!error || dataUpdatedAt === 0 || (error instanceof ApiError && error.code === 0)) return null;
  return (
    <StaleNote
      what={explain(error).what}
      since={Math.floor(dataUpdatedAt / 1000)}
      onRetry={() => void refetch()}
      className={className}
    />
  );
}

interface StaleNoteProps {
  what: string;
  /** Unix seconds of the data. */
  since: number;
  onRetry: () => void;
  className: string | undefined;
}

function StaleNote({ what, since, onRetry, className }: StaleNoteProps) {
  const age = formatDuration(Math.max(0, useNow() - since));
  const todo = texts.dataIsOld(age, formatClock(since));
  return <ErrorNote what={what} todo={todo} onRetry={onRetry} className={className} />;
}

/** In place of what was asked for by its id and is not there. */
export function Gone({ icon, title }: { icon: IconName; title: string }) {
  return (
    <Empty icon={icon} title={title}>
      {texts.itWasDeletedOr}
    </Empty>
  );
}

interface FoundProps<T> {
  /** Null: it is not there; undefined: it is on its way. */
  query: {
    data: T | null | undefined;
    error: Error | null;
    dataUpdatedAt: number;
    refetch: () => unknown;
  };
  gone: ReactNode;
  children: (data: T) => ReactNode;
}

/**
 * What was asked for by its id, or why it is not shown. What was read before an error stays, below the
 * error: on a form that would otherwise disappear with what was entered.
 */
export function Found<T>({ query, gone, children }: FoundProps<T>) {
  const { data, error, refetch } = query;
  if (data === undefined || data === null) {
    if (error) return <QueryError error={error} onRetry={() => void refetch()} />;
    return data === null ? gone : <SkeletonRows rows={10} />;
  }
  return (
    <>
      <StaleError query={query} className="mb-2" />
      {children(data)}
    </>
  );
}
