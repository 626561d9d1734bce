import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type ReactElement, type ReactNode } from 'react';
import classes from './now.module.css';

interface Props<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  /** All rows have this height. */
  readonly rowHeight: number;
  readonly className: string | undefined;
  readonly header: ReactNode;
  readonly empty: ReactNode;
  /** The cells of a row. */
  readonly renderRow: (item: Item) => ReactElement | null;
  readonly isMarked?: (item: Item) => boolean;
}

/** A table that renders only the rows in view. */
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- see cell.tsx. */
export function VirtualRows<Item extends { readonly id: string }>({
  label,
  items,
  rowHeight,
  className = '',
  header,
  empty,
  renderRow,
  isMarked,
}: Props<Item>): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- the result is used in this render only.
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  });
  if (items.length === 0) return <div className={classes['empty']}>{empty}</div>;
  return (
    <div role="table" aria-label={label} aria-rowcount={items.length + 1} className={classes['table']}>
      <div role="rowgroup" className={classes['head']}>
        <div role="row" aria-rowindex={1} className={className}>
          {header}
        </div>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard. */}
      <div role="rowgroup" ref={scroller} className={classes['scroller']} tabIndex={0} aria-label={label}>
        <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const item = items[index];
            if (item === undefined) return null;
            return (
              <div
                key={item.id}
                role="row"
                aria-rowindex={index + 2}
                data-id={item.id}
                data-marked={isMarked?.(item) === true || undefined}
                className={`${classes['row']} ${className}`}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
              >
                {renderRow(item)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
