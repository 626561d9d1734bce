import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * For controls that go away while one of them has the focus: it passes on to the message field and does not fall to the page. Where
 * that would open a keyboard over the panel, the focus passes on to the conversation.
 */
export function useFocusHeir() {
  const controls = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = controls.current;
    const root = node?.getRootNode() as ShadowRoot | undefined;
    return () => {
      if (node === null || root === undefined || !node.contains(root.activeElement)) return;
      const heir = matchMedia('(pointer: fine)').matches ? 'textarea' : '[role="log"]';
      root.querySelector<HTMLElement>(heir)?.focus();
    };
  }, []);
  return controls;
}
