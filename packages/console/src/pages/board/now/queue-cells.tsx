import type { Queue } from '@usher/sdk/api-types';
import { ArrowRightIcon, OpenInNewWindowIcon } from '@radix-ui/react-icons';
import { memo, type ReactElement } from 'react';
import { Link } from 'wouter';
import { isOpen, isUnattended, reasonOf, statusNames, waitingCount } from '../../../components/queue-status.ts';
import { formatClock } from '../../../components/time/duration.ts';
import { findOverflowQueue } from '../fallback-chain.ts';
import type { Staff } from '../store/staffing.ts';
import { texts } from '../texts.ts';
import classes from './now.module.css';
import { Cell } from './cell.tsx';
import { Warning, WaitTime } from './wait-time.tsx';

interface Props {
  readonly queue: Queue;
  readonly longestSince: string | null;
  readonly present: number;
  readonly busy: number;
  /** The fallback queues in order; `null` for one on a site that is not shown. */
  readonly chain: readonly (Queue | null)[];
  readonly isChosen: boolean;
  readonly choose: (id: string) => void;
}

/** The cells of a queue, rendered again only when one of them changes. */
export const QueueCells = memo(
  function QueueCells(props: Props): ReactElement {
    const { queue, longestSince, present, busy, isChosen, choose } = props;
    const waiting = waitingCount(queue);
    return (
      <>
        <Cell className={classes['name']}>
          <div className={classes['line']}>
            <button
              type="button"
              className={classes['plain']}
              aria-pressed={isChosen}
              title={texts.showPeopleOfQueue(queue.name)}
              onClick={() => choose(queue.id)}
            >
              <bdi>{queue.name}</bdi>
            </button>
            <Link href={`/queues/${queue.id}`} className={classes['icon']} aria-label={texts.openQueue(queue.name)}>
              <OpenInNewWindowIcon aria-hidden />
            </Link>
          </div>
          <StatusLine {...props} />
        </Cell>
        <Cell className={classes['number']} label={texts.waitingLabel} strong={waiting > 0}>
          {isUnattended(queue) ? (
            <Warning title={texts.noOperatorsOnline} text={texts.noOperatorsOnlineLabel}>
              {waiting}
            </Warning>
          ) : (
            waiting
          )}
        </Cell>
        <Cell className={classes['number']} label={texts.longestLabel}>
          {longestSince === null ? '–' : <WaitTime since={longestSince} />}
        </Cell>
        <Cell className={classes['number']} label={texts.averageLabel}>
          {queue.average_wait_time === 0 ? '–' : formatClock(queue.average_wait_time)}
        </Cell>
        <Cell className={classes['number']} label={texts.staffLabel}>
          {formatStaff({ present, busy })}
        </Cell>
        <Capacity used={queue.visitors_count} capacity={queue.capacity} />
      </>
    );
  },
  (a, b) =>
    a.queue === b.queue &&
    a.longestSince === b.longestSince &&
    a.present === b.present &&
    a.busy === b.busy &&
    a.isChosen === b.isChosen &&
    a.choose === b.choose &&
    a.chain.length === b.chain.length &&
    a.chain.every((link, n) => link === b.chain[n]),
);

function formatStaff({ present, busy }: Staff): ReactElement {
  if (busy === 0) return <>{present}</>;
  return (
    <>
      {present} <small>{busy === present ? texts.allBusy : texts.someBusy(busy)}</small>
    </>
  );
}

/** The status of the queue, the reason, and where visitors overflow to. */
function StatusLine({ queue, present, busy, chain, choose }: Props): ReactElement {
  const reason = reasonOf(queue) || (present > 0 && busy === present ? texts.allOperatorsBusy : '');
  const overflowQueue = isOpen(queue) ? null : findOverflowQueue(chain);
  return (
    <div className={classes['situation']}>
      <span className={classes['status']} data-status={queue.self_status}>
        {statusNames[queue.self_status]}
      </span>
      {reason === '' ? null : <span>{reason}</span>}
      {chain.length === 0 ? null : (
        <span className={classes['chain']}>
          <span className={classes['visuallyHidden']}>
            {overflowQueue === null ? texts.fallsBackToLabel : texts.overflowsToLabel(overflowQueue.name)}
          </span>
          {chain.map((link, n) => (
            <span key={link?.id ?? n} data-takes={(link !== null && link === overflowQueue) || undefined}>
              <ArrowRightIcon aria-hidden />
              {link === null ? (
                texts.anotherSite
              ) : (
                <button
                  type="button"
                  className={classes['plain']}
                  title={link === overflowQueue ? texts.overflowsTo(link.name) : link.name}
                  onClick={() => choose(link.id)}
                >
                  <bdi>{link.name}</bdi>
                </button>
              )}
            </span>
          ))}
        </span>
      )}
    </div>
  );
}

/** The used part of the effective capacity, as a bar and as numbers. */
function Capacity({ used, capacity }: { readonly used: number; readonly capacity: number }): ReactElement {
  const share = capacity === 0 ? (used > 0 ? 1 : 0) : Math.min(1, used / capacity);
  return (
    <Cell className={classes['capacity']} label={texts.capacityLabel}>
      <span className="tabular">
        {used} / {capacity}
      </span>
      <span className={classes['track']} aria-hidden>
        <span className={classes['used']} data-full={share >= 1 || undefined} style={{ width: `${share * 100}%` }} />
      </span>
    </Cell>
  );
}
