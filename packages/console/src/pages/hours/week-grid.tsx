import { Button, Group, Text } from '@mantine/core';
import { minutesOfDay } from '@usher/contract/opening-times';
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react';
import classes from './hours.module.css';
import { texts } from './texts.ts';
import {
  blocksOf,
  dayNames,
  drawSpan,
  describeSpan,
  lengthenSpan,
  moveSpan,
  placeSpan,
  resizeSpan,
  segmentsOf,
  stepMinutes,
  removeBlock,
  type Block,
  type Row,
  type DaySpan,
} from './week.ts';

interface Point {
  readonly day: number;
  readonly minute: number;
}

/** A drag in progress, and its result if it were dropped now. */
interface Gesture {
  readonly kind: 'draw' | 'move' | 'opens' | 'closes';
  readonly start: Point;
  readonly block: Block | null;
  readonly span: DaySpan | null;
}

interface Props {
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
}

/** The week as a grid: drag on empty space to add a block, its middle to move it, an edge to resize it. */
export function WeekGrid({ rows, onChange }: Props): ReactElement {
  const grid = useRef<HTMLDivElement>(null);
  const [gesture, setGesture] = useState<Gesture | null>(null);
  const [chosen, choose] = useState<Pick<Block, 'row' | 'day'> | null>(null);
  const blocks = blocksOf(rows);
  const selected = blocks.find(({ row, day }) => row === chosen?.row && day === chosen.day) ?? null;

  const pointOf = ({ clientX, clientY }: PointerEvent): Point => {
    const box = grid.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
    const day = Math.floor(((clientX - box.left) / box.width) * 7);
    const steps = Math.round((((clientY - box.top) / box.height) * minutesOfDay) / stepMinutes);
    return {
      day: Math.min(Math.max(day, 0), 6),
      minute: Math.min(Math.max(steps * stepMinutes, 0), minutesOfDay),
    };
  };
  const begin = (event: PointerEvent, kind: Gesture['kind'], block: Block | null): void => {
    // A finger scrolls; touch users edit the list.
    if (event.button !== 0 || event.pointerType === 'touch') return;
    event.stopPropagation();
    grid.current?.setPointerCapture(event.pointerId);
    choose(block);
    setGesture({ kind, start: pointOf(event), block, span: null });
  };
  const onMove = (event: PointerEvent): void => {
    if (gesture === null) return;
    const at = pointOf(event);
    const { kind, start, block } = gesture;
    // A click does not draw: drawing begins with the first step.
    if (gesture.span === null && at.day === start.day && at.minute === start.minute) return;
    const span =
      block === null
        ? drawSpan(start, at)
        : kind === 'move'
          ? moveSpan(block, at.day - start.day, at.minute - start.minute)
          : resizeSpan(block, kind === 'opens' ? 'opens' : 'closes', at);
    setGesture({ ...gesture, span });
  };
  const end = (): void => {
    if (gesture !== null && gesture.span !== null) put(gesture.span, gesture.block ?? undefined);
    setGesture(null);
  };
  const put = (span: DaySpan, replaced?: Block): void => {
    const next = placeSpan(rows, span, replaced);
    onChange(next);
    choose(
      blocksOf(next).find(
        ({ day, opens, closes }) => day === span.day && opens <= span.opens && closes >= span.closes,
      ) ?? null,
    );
  };
  const remove = (block: Block): void => {
    onChange(removeBlock(rows, block));
    choose(null);
  };
  const shown = gesture?.span ?? null;
  return (
    <div>
      <section className={classes['week']} aria-label={texts.week}>
        <Axis />
        <div
          ref={grid}
          className={classes['ground']}
          data-testid="week-ground"
          onPointerDown={(event) => begin(event, 'draw', null)}
          onPointerMove={onMove}
          onPointerUp={end}
          onPointerCancel={() => setGesture(null)}
        >
          {blocks.map((block) => (
            <BlockView
              key={`${block.row} ${block.day}`}
              block={block}
              isFaint={shown !== null && gesture?.block?.row === block.row && gesture.block.day === block.day}
              isChosen={selected === block}
              onChoose={() => choose(block)}
              onBegin={begin}
              onKey={(event) => onKey(event, block, put, remove)}
            />
          ))}
          {shown === null ? null : <Ghost span={shown} />}
        </div>
      </section>
      <Group gap="xs" mt={6} mih={30}>
        <Text size="xs" c="dimmed" aria-live="polite">
          {selected === null ? texts.weekGridHelp : describeSpan(selected)}
        </Text>
        {selected === null ? null : (
          <Button size="compact-xs" variant="default" onClick={() => remove(selected)}>
            {texts.remove}
          </Button>
        )}
      </Group>
    </div>
  );
}

type Put = (span: DaySpan, replaced?: Block) => void;

function onKey(event: KeyboardEvent, block: Block, put: Put, remove: (block: Block) => void): void {
  const { key, shiftKey } = event;
  if (key === 'Delete' || key === 'Backspace') remove(block);
  else if (key === 'ArrowUp')
    put(shiftKey ? lengthenSpan(block, -stepMinutes) : moveSpan(block, 0, -stepMinutes), block);
  else if (key === 'ArrowDown')
    put(shiftKey ? lengthenSpan(block, stepMinutes) : moveSpan(block, 0, stepMinutes), block);
  else if (key === 'ArrowLeft') put(moveSpan(block, -1, 0), block);
  else if (key === 'ArrowRight') put(moveSpan(block, 1, 0), block);
  else return;
  event.preventDefault();
}

function Axis(): ReactElement {
  return (
    <>
      <div />
      <div className={classes['days']} aria-hidden>
        {dayNames.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <div className={classes['axis']} aria-hidden>
        {Array.from({ length: 9 }, (_, index) => (
          <span key={index} style={{ top: `${(index / 8) * 100}%` }}>
            {String(index * 3).padStart(2, '0')}
          </span>
        ))}
      </div>
    </>
  );
}

interface BlockProps {
  readonly block: Block;
  readonly isFaint: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onBegin: (event: PointerEvent, kind: Gesture['kind'], block: Block) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

/** A block is one element for keyboard and screen reader, even if it is drawn on two days. */
function BlockView({ block, isFaint, isChosen, onChoose, onBegin, onKey }: BlockProps): ReactElement {
  const segments = segmentsOf(block);
  return (
    <>
      {segments.map(({ day, from, to }, index) => (
        <div
          key={day}
          className={classes['block']}
          data-faint={isFaint || undefined}
          data-chosen={isChosen || undefined}
          style={boxStyle(day, from, to)}
          onPointerDown={(event) => onBegin(event, 'move', block)}
          {...(index === 0
            ? {
                role: 'button',
                tabIndex: 0,
                'aria-label': describeSpan(block),
                'aria-pressed': isChosen,
                onFocus: onChoose,
                onKeyDown: onKey,
              }
            : { 'aria-hidden': true })}
        >
          {index === 0 ? (
            <span className={classes['top']} onPointerDown={(event) => onBegin(event, 'opens', block)} />
          ) : null}
          <span className={classes['times']}>{describeSpan(block).split(' ')[1]}</span>
          {index === segments.length - 1 ? (
            <span className={classes['bottom']} onPointerDown={(event) => onBegin(event, 'closes', block)} />
          ) : null}
        </div>
      ))}
    </>
  );
}

function Ghost({ span }: { readonly span: DaySpan }): ReactElement {
  return (
    <>
      {segmentsOf(span).map(({ day, from, to }, index) => (
        <div key={day} className={classes['ghost']} style={boxStyle(day, from, to)} aria-hidden>
          {index === 0 ? <span className={classes['times']}>{describeSpan(span).split(' ')[1]}</span> : null}
        </div>
      ))}
    </>
  );
}

function boxStyle(day: number, from: number, to: number): Record<string, string> {
  return {
    left: `calc(${(day / 7) * 100}% + 2px)`,
    top: `${(from / minutesOfDay) * 100}%`,
    height: `${((to - from) / minutesOfDay) * 100}%`,
  };
}
