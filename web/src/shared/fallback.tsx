import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { Button, buttonClass } from "~/ui/button";
import type { IconName } from "~/ui/icon";
import { Empty, ErrorNote, SkeletonRows } from "~/ui/state";
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

/** The error of a query above older data. That the server does not respond is said by the banner of the page. */
export function StaleError(props: { error: Error; onRetry?: () => void; className?: string }) {
  if (props.error instanceof ApiError && props.error.code === 0) return null;
  return <QueryError {...props} />;
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
  query: { data: T | null | undefined; error: Error | null; refetch?: () => unknown };
  gone: ReactNode;
  children: (data: T) => ReactNode;
}

/**
 * What was asked for by its id, or why it is not shown. What was read before an error stays, below the
 * error: on a form that would otherwise disappear with what was entered.
 */
export function Found<T>({ query, gone, children }: FoundProps<T>) {
  const { data, error, refetch } = query;
  const onRetry = refetch && (() => void refetch());
  if (data === undefined || data === null) {
    if (error) return <QueryError error={error} onRetry={onRetry} />;
    return data === null ? gone : <SkeletonRows rows={10} />;
  }
  return (
    <>
      {error && <StaleError error={error} onRetry={onRetry} className="mb-2" />}
      {children(data)}
    </>
  );
}
