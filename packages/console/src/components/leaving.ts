import { useEffect, useRef } from 'react';
import type { AroundNavHandler } from 'wouter';
import { texts } from './texts.ts';

/** The forms with unsaved changes. */
const unsavedPlaces = new Set<object>();

/** Things that a reload would interrupt, but navigation within the console does not: a call. */
const goingOn = new Set<object>();

export async function whilePageIsHeld(run: () => Promise<void>): Promise<void> {
  goingOn.add(run);
  await run().finally(() => goingOn.delete(run));
}

/** Whether a reload needs a confirmation. */
export function isHeld(): boolean {
  return unsavedPlaces.size > 0 || goingOn.size > 0;
}

function mayLeave(): boolean {
  // The browser's own dialog, as when a tab is closed: it blocks everything until it is answered.
  return unsavedPlaces.size === 0 || confirm(texts.confirmLeave);
}

/** For the router: a link navigates only if nothing is lost, or the operator confirms. */
export const askBeforeLeaving: AroundNavHandler = (navigate, to, options) => {
  if (to === location.pathname || mayLeave()) navigate(to, options);
};

/**
 * While there are unsaved changes, leaving asks first: by a link, by back and forward, or by closing the tab. Returns a function
 * to call after saving, before navigating.
 */
export function useUnsaved(unsaved: boolean): () => void {
  const place = useRef({});
  useEffect(() => {
    if (!unsaved) return undefined;
    const key = place.current;
    const here = location.href;
    unsavedPlaces.add(key);
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (unsavedPlaces.has(key)) event.preventDefault();
    };
    const onBack = (event: PopStateEvent): void => {
      if (location.href === here || mayLeave()) return;
      // The URL has changed already: restore it before the router notices.
      event.stopImmediatePropagation();
      history.pushState(null, '', here);
    };
    addEventListener('beforeunload', onUnload);
    addEventListener('popstate', onBack, { capture: true });
    return () => {
      unsavedPlaces.delete(key);
      removeEventListener('beforeunload', onUnload);
      removeEventListener('popstate', onBack, { capture: true });
    };
  }, [unsaved]);
  return () => unsavedPlaces.delete(place.current);
}
