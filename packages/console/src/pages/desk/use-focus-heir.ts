import { useLayoutEffect, useRef, type RefObject } from 'react';

/**
 * For controls that go away while one of them has the focus: it passes on to the message field and does not fall to the page's
 * body. Where that would open a keyboard over the page, the focus passes on to the messages.
 */
export function useFocusHeir(): RefObject<HTMLDivElement | null> {
  const controls = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = controls.current;
    return () => {
      if (node === null || !node.contains(document.activeElement)) return;
      const heir = matchMedia('(pointer: fine)').matches ? 'textarea[aria-label="Message"]' : '[aria-label="Messages"]';
      document.querySelector<HTMLElement>(heir)?.focus();
    };
  }, []);
  return controls;
}
