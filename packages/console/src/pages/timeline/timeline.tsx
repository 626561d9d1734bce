import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { ChevronDownIcon, ChevronRightIcon } from '@radix-ui/react-icons';
import { Fragment, useState, type ReactElement } from 'react';
import { formatClock } from '../../components/time/duration.ts';
import { formatTime } from '../../components/time/time.ts';
import { hoursOf, kinds, pathOf, type Line } from './day-line.ts';
import classes from './timeline.module.css';
import { texts } from './texts.ts';

interface NamedLine extends Line {
  readonly name: string;
}

interface TimelineProps {
  readonly lines: readonly NamedLine[];
  readonly from: Date;
  readonly to: Date;
  readonly now: number;
}

const percent = (fraction: number): string => `${fraction * 100}%`;
const clock = (at: number): string => formatTime(at, 'seconds');

/** One row per operator: the day as a bar, and as a list on demand. */
export function Timeline({ lines, from, to, now }: TimelineProps): ReactElement {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string): void =>
    setOpen((former) => new Set(former.has(id) ? [...former].filter((each) => each !== id) : [...former, id]));
  return (
    <>
      <Legend />
      <Table className={classes['table'] ?? ''} aria-label={texts.operators} verticalSpacing="xs" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes['name'] ?? ''}>{texts.operator}</Table.Th>
            <Table.Th>
              <VisuallyHidden>{texts.day}</VisuallyHidden>
              <Hours from={from} to={to} />
            </Table.Th>
            <Table.Th className={classes['figure'] ?? ''}>{texts.online}</Table.Th>
            <Table.Th className={classes['figure'] ?? ''}>{texts.inConversations}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line) => (
            <Fragment key={line.operatorId}>
              <Row
                line={line}
                range={{ from, to, now }}
                isOpen={open.has(line.operatorId)}
                toggle={() => toggle(line.operatorId)}
              />
              {open.has(line.operatorId) ? <Pieces line={line} /> : null}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}

function Legend(): ReactElement {
  return (
    <ul className={classes['legend']} aria-label={texts.colours}>
      {kinds.map(({ kind, label }) => (
        <li key={kind}>
          <span className={classes['swatch']} data-kind={kind} aria-hidden />
          {label}
        </li>
      ))}
    </ul>
  );
}

function Hours({ from, to }: Pick<TimelineProps, 'from' | 'to'>): ReactElement {
  const [start, length] = [from.getTime(), to.getTime() - from.getTime()];
  return (
    <div className={classes['hours']} aria-hidden>
      {hoursOf(from, to).map(({ label, at }) => (
        <span key={at} style={{ left: percent((at - start) / length) }}>
          {label}
        </span>
      ))}
    </div>
  );
}

interface RowProps {
  readonly line: NamedLine;
  readonly range: Pick<TimelineProps, 'from' | 'to' | 'now'>;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Row({ line, range: { from, to, now }, isOpen, toggle }: RowProps): ReactElement {
  const [start, end] = [from.getTime(), to.getTime()];
  const { seconds } = line;
  const summary = kinds
    .filter(({ kind }) => seconds[kind] > 0)
    .map(({ kind, label }) => `${label} ${formatClock(seconds[kind])}`)
    .join(', ');
  return (
    <Table.Tr>
      <Table.Th scope="row" className={classes['name'] ?? ''}>
        <UnstyledButton className={classes['toggle'] ?? ''} aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? <ChevronDownIcon aria-hidden /> : <ChevronRightIcon aria-hidden />}
          <bdi className="user-text">{line.name}</bdi>
        </UnstyledButton>
      </Table.Th>
      <Table.Td>
        <svg
          className={classes['bar']}
          viewBox={`0 0 ${end - start} 1`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
        >
          {kinds.map(({ kind }) => (
            <path key={kind} data-kind={kind} d={pathOf(line.pieces, kind, start)} />
          ))}
          {start <= now && now < end ? <path data-kind="now" d={`M${now - start} 0v1`} /> : null}
        </svg>
      </Table.Td>
      <Table.Td className={classes['figure'] ?? ''}>{formatClock(seconds.online)}</Table.Td>
      <Table.Td className={classes['figure'] ?? ''}>{formatClock(seconds.engaged)}</Table.Td>
    </Table.Tr>
  );
}

function Pieces({ line }: { readonly line: NamedLine }): ReactElement {
  return (
    <Table.Tr>
      <Table.Td colSpan={2}>
        <ol className={classes['pieces']} aria-label={texts.intervalsOf(line.name)}>
          {line.pieces.map(({ kind, label, from, to }) => (
            <li key={from}>
              <span className={classes['swatch']} data-kind={kind} aria-hidden />
              <span className="tabular">
                {clock(from)}–{clock(to)}
              </span>
              <bdi className="user-text">{label}</bdi>
              <span className={classes['length']}>
                {formatClock(Math.floor(to / 1_000) - Math.floor(from / 1_000))}
              </span>
            </li>
          ))}
        </ol>
      </Table.Td>
    </Table.Tr>
  );
}
