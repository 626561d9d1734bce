import { useLayoutEffect, useRef, type RefObject } from 'react';
import { texts } from './texts.ts';

/**
 * For controls that disappear while one of them has the focus: moves the focus to the message input, so that it does not fall
 * back to the body. Where that would open an on-screen keyboard, the focus moves to the messages.
 */
export function useReturnFocus(): RefObject<HTMLDivElement | null> {
  const controls = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = controls.current;
    return () => {
      if (node === null || !node.contains(document.activeElement)) return;
      const label = matchMedia('(pointer: fine)').matches ? texts.message : texts.messages;
      document.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.focus();
    };
  }, []);
  return controls;
}
