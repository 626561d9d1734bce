import { useEffect, useRef } from 'react';
import type { AroundNavHandler } from 'wouter';
import { texts } from '../texts.ts';

/** The forms with unsaved changes. */
const unsavedForms = new Set<object>();

/** Things that a reload would interrupt, but navigation within the console does not: a call. */
const blockingTasks = new Set<object>();

export async function blockReloadDuring(run: () => Promise<void>): Promise<void> {
  blockingTasks.add(run);
  await run().finally(() => blockingTasks.delete(run));
}

/** Whether a reload needs a confirmation. */
export function needsReloadConfirmation(): boolean {
  return unsavedForms.size > 0 || blockingTasks.size > 0;
}

/** Whether nothing would be lost by leaving the page, or the operator agrees to lose it. */
export function confirmLeave(): boolean {
  // The browser's own dialog, as when a tab is closed: it blocks everything until it is answered.
  return unsavedForms.size === 0 || confirm(texts.confirmLeave);
}

/** The operator agreed to lose the changes: leaving does not ask again. */
export function discardUnsavedChanges(): void {
  unsavedForms.clear();
}

/** For the router: a link navigates only if nothing is lost, or the operator confirms. */
export const confirmNavigation: AroundNavHandler = (navigate, to, options) => {
  if (to === location.pathname || confirmLeave()) navigate(to, options);
};

/**
 * While there are unsaved changes, leaving asks first: by a link, by back and forward, or by closing the tab. Returns a function
 * to call after saving, before navigating.
 */
export function useUnsavedChanges(unsaved: boolean): () => void {
  const form = useRef({});
  useEffect(() => {
    if (!unsaved) return undefined;
    const key = form.current;
    const url = location.href;
    unsavedForms.add(key);
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (unsavedForms.has(key)) event.preventDefault();
    };
    const onBack = (event: PopStateEvent): void => {
      if (location.href === url || confirmLeave()) return;
      // The URL has changed already: restore it before the router notices.
      event.stopImmediatePropagation();
      history.pushState(null, '', url);
    };
    addEventListener('beforeunload', onUnload);
    addEventListener('popstate', onBack, { capture: true });
    return () => {
      unsavedForms.delete(key);
      removeEventListener('beforeunload', onUnload);
      removeEventListener('popstate', onBack, { capture: true });
    };
  }, [unsaved]);
  return () => unsavedForms.delete(form.current);
}
