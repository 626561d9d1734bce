import type { ReactElement, ReactNode } from 'react';

/*
 * Cells and heads of a table by ARIA role instead of tag: the rows are virtual and positioned absolutely, which table elements do
 * not support.
 */

interface CellProps {
  readonly className?: string | undefined;
  /** The name of the figure, shown where there is no room for column heads. */
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
