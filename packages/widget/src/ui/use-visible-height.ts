import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Some phones lay their keyboard over the page instead of making it smaller: what is written must stay in sight. */
export function useVisibleHeight(element: RefObject<HTMLElement | null>, isWanted: boolean): void {
  useEffect(() => {
    const { visualViewport: viewport } = window;
    if (!isWanted || viewport === null) return;
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
  }, [element, isWanted]);
}
