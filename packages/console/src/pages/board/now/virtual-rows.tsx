import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type ReactElement, type ReactNode } from 'react';
import classes from './now.module.css';

interface Props<Thing> {
  readonly label: string;
  readonly things: readonly Thing[];
  /** All rows have this height. */
  readonly rowHeight: number;
  readonly className: string | undefined;
  readonly header: ReactNode;
  readonly empty: ReactNode;
  /** The cells of a row. */
  readonly renderRow: (thing: Thing) => ReactElement | null;
  readonly isMarked?: (thing: Thing) => boolean;
}

/** A table that renders only the rows in view. */
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- see table-parts.tsx. */
export function VirtualRows<Thing extends { readonly id: string }>({
  label,
  things,
  rowHeight,
  className = '',
  header,
  empty,
  renderRow,
  isMarked,
}: Props<Thing>): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- what it answers is used here alone, and never kept.
  const rows = useVirtualizer({
    count: things.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  });
  if (things.length === 0) return <div className={classes['empty']}>{empty}</div>;
  return (
    <div role="table" aria-label={label} aria-rowcount={things.length + 1} className={classes['table']}>
      <div role="rowgroup" className={classes['head']}>
        <div role="row" aria-rowindex={1} className={className}>
          {header}
        </div>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keys. */}
      <div role="rowgroup" ref={scroller} className={classes['scroller']} tabIndex={0} aria-label={label}>
        <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const thing = things[index];
            if (thing === undefined) return null;
            return (
              <div
                key={thing.id}
                role="row"
                aria-rowindex={index + 2}
                data-id={thing.id}
                data-marked={isMarked?.(thing) === true || undefined}
                className={`${classes['row']} ${className}`}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
              >
                {renderRow(thing)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
