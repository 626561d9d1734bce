import type { ReactElement, ReactNode } from 'react';

/*
 * Parts of a table by role and not by tag: rows that are each put in their place, of which only those in view are there,
 * are more than the tags of tables bear.
 */

interface CellProps {
  readonly className?: string | undefined;
  /** What the figure is, where there is no room for the heads. */
  readonly label?: string;
  readonly strong?: boolean;
  readonly children: ReactNode;
}

export function Cell({ className, label, strong, children }: CellProps): ReactElement {
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- see above.
    <div role="cell" className={className} data-label={label} data-strong={strong === true || undefined}>
      {children}
    </div>
  );
}

interface HeadProps {
  readonly sorted?: 'ascending' | 'descending' | 'none';
  readonly children: ReactNode;
}

export function Head({ sorted, children }: HeadProps): ReactElement {
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- see above.
    <div role="columnheader" aria-sort={sorted}>
      {children}
    </div>
  );
}
