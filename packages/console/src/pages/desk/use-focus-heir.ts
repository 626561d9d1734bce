import { useLayoutEffect, useRef, type RefObject } from 'react';

/**
 * For controls that disappear while one of them has the focus: moves the focus to the message input, so that it does not fall
 * back to the body. Where that would open an on-screen keyboard, the focus moves to the messages.
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
