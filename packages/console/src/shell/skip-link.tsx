import type { MouseEvent, ReactElement } from 'react';
import classes from './skip-link.module.css';
import { texts } from './texts.ts';

export const mainId = 'main';

/**
 * The first stop of the Tab key, seen while it has the focus: it leads past the menu to the page. The address stays as it is,
 * because a change of it asks whether to leave what is not saved.
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
