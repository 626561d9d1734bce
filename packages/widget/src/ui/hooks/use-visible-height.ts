import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Fits the panel to the visible part of the page. Some phones lay the keyboard over the page instead of shrinking it. */
export function useVisibleHeight(element: RefObject<HTMLElement | null>, isEnabled: boolean): void {
  useEffect(() => {
    const { visualViewport: viewport } = window;
    if (!isEnabled || viewport === null) return;
    const fit = (): void => {
      element.current?.style.setProperty('--height', `${viewport.height}px`);
      element.current?.style.setProperty('top', `${viewport.offsetTop}px`);
    };
    fit();
    viewport.addEventListener('resize', fit);
    viewport.addEventListener('scroll', fit);
    const { current } = element;
    return () => {
      viewport.removeEventListener('resize', fit);
      viewport.removeEventListener('scroll', fit);
      current?.style.removeProperty('--height');
      current?.style.removeProperty('top');
    };
  }, [element, isEnabled]);
}
