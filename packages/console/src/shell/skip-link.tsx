import type { MouseEvent, ReactElement } from 'react';
import classes from './skip-link.module.css';
import { texts } from './texts.ts';

export const mainId = 'main';

/**
 * The first stop of the Tab key, visible while it has the focus: it skips the menu. The URL stays the same, because changing it
 * would ask about unsaved changes.
 */
export function SkipLink(): ReactElement {
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    document.querySelector<HTMLElement>(`#${mainId}`)?.focus();
  };
  return (
    <a href={`#${mainId}`} className={classes['skip']} onClick={skip}>
      {texts.skipToContent}
    </a>
  );
}
