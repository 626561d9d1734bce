import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Moves the focus when focused controls disappear: to the message field, so that the focus does not fall back to the page. On touch
 * screens the message field would open a keyboard over the panel, so the focus moves to the log there.
 */
export function useFocusFallback() {
  const controls = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = controls.current;
    const root = node?.getRootNode() as ShadowRoot | undefined;
    return () => {
      if (node === null || root === undefined || !node.contains(root.activeElement)) return;
      const fallback = matchMedia('(pointer: fine)').matches ? 'textarea' : '[role="log"]';
      root.querySelector<HTMLElement>(fallback)?.focus();
    };
  }, []);
  return controls;
}
