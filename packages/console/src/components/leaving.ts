import { useEffect, useRef } from 'react';
import type { AroundNavHandler } from 'wouter';
import { texts } from './texts.ts';

/** Places on the page where something is typed and not saved. */
const unsavedPlaces = new Set<object>();

/** What would be cut off by loading the page again, and goes on elsewhere in the console: a call. */
const goingOn = new Set<object>();

export async function whilePageIsHeld(run: () => Promise<void>): Promise<void> {
  goingOn.add(run);
  await run().finally(() => goingOn.delete(run));
}

/** Whether the page must not be loaded again without asking. */
export function isHeld(): boolean {
  return unsavedPlaces.size > 0 || goingOn.size > 0;
}

function mayLeave(): boolean {
  // The browser's own question, as when the tab is closed: it holds everything else still until it is answered.
  return unsavedPlaces.size === 0 || confirm(texts.confirmLeave);
}

/** For the router: a link leads away only if nothing is lost by it, or if that is wanted. */
export const askBeforeLeaving: AroundNavHandler = (navigate, to, options) => {
  if (to === location.pathname || mayLeave()) navigate(to, options);
};

/**
 * While there is something unsaved, leaving asks first: by a link, by the browser's back and forward, or by closing the tab.
 * The answer is to be called when it has just been saved, before going elsewhere.
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
      // The address has changed already: put it back before the router hears of it.
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
