import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type ReactElement, type ReactNode } from 'react';
import classes from './now.module.css';

interface Props {
  readonly label: string;
  readonly ids: readonly string[];
  /** Every row is as high. */
  readonly rowHeight: number;
  readonly className: string | undefined;
  readonly header: ReactNode;
  readonly empty: ReactNode;
  /** Its cells. */
  readonly renderRow: (id: string) => ReactElement | null;
  readonly isMarked?: (id: string) => boolean;
}

/** A table of which only the rows in view are there, however many it has. */
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- see table-parts.tsx. */
export function VirtualRows({
  label,
  ids,
  rowHeight,
  className = '',
  header,
  empty,
  renderRow,
  isMarked,
}: Props): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- what it answers is used here alone, and never kept.
  const rows = useVirtualizer({
    count: ids.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => ids[index] ?? index,
    overscan: 6,
  });
  if (ids.length === 0) return <div className={classes['empty']}>{empty}</div>;
  return (
    <div role="table" aria-label={label} aria-rowcount={ids.length + 1} className={classes['table']}>
      <div role="rowgroup" className={classes['head']}>
        <div role="row" aria-rowindex={1} className={className}>
          {header}
        </div>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keys. */}
      <div role="rowgroup" ref={scroller} className={classes['scroller']} tabIndex={0} aria-label={label}>
        <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ key, index, start }) => {
            const id = ids[index] ?? '';
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                data-id={id}
                data-marked={isMarked?.(id) === true || undefined}
                className={`${classes['row']} ${className}`}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
              >
                {renderRow(id)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
