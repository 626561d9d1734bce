import {
  closestCenter,
  DndContext,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
  type DragEndEvent,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { ActionIcon, Alert, Button, Center, Group, Loader, Select, Stack, Text } from '@mantine/core';
import { Cross2Icon, DragHandleDots2Icon } from '@radix-ui/react-icons';
import type { Ranking } from '@usher/sdk/api-types';
import { maxPageSize } from '@usher/contract/limits';
import { lastRank } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { useUnsavedChanges } from '../../components/editing/unsaved-changes.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { isEqual } from '../../components/editing/versions.ts';
import { useChange, useRead } from '../../data/use-api.ts';
import { appendRank, sortByRank, moveRank, rankChanges, withRank } from './ranks.ts';
import { texts } from './texts.ts';
import type { Queue } from './use-queues.ts';
import classes from './queues.module.css';

export function RankingTab({ queue }: { readonly queue: Queue }): ReactElement {
  const path = { queue_id: queue.id };
  const ranks = useRead('GET /queues/{queue_id}/rankings', { path });
  const operators = useRead('GET /operators', {
    query: { site_ids: [queue.site_id], per_page: maxPageSize, include_offline: true, include_disabled: true },
  });
  const error = ranks.error ?? operators.error;
  if (error !== null) return <ProblemNote error={error} title={texts.couldNotLoadPriorities} />;
  if (ranks.data === undefined || operators.data === undefined)
    return (
      <Center mih={120}>
        <Loader aria-label={texts.loading} />
      </Center>
    );
  const names = new Map(operators.data.data.operators.map(({ id, name }) => [id, name]));
  return <Ranks queue={queue} saved={sortByRank(ranks.data.data.operators)} names={names} />;
}

interface RanksProps {
  readonly queue: Queue;
  readonly saved: readonly Ranking[];
  readonly names: ReadonlyMap<string, string>;
}

function Ranks({ queue, saved, names }: RanksProps): ReactElement {
  // Operators who left the site keep a rank that cannot be changed.
  const current = saved.filter(({ id }) => names.has(id));
  const gone = saved.length - current.length;
  const [draft, setDraft] = useState<readonly Ranking[] | null>(null);
  const [search, setSearch] = useState('');
  const list = draft ?? current;
  const isChanged = !isEqual(list, current);
  useUnsavedChanges(isChanged);
  const save = useChange('PATCH /queues/{queue_id}/rankings', {
    refresh: ['GET /queues/{queue_id}/rankings'],
  });
  const submit = async (): Promise<void> => {
    await save.mutateAsync({ path: { queue_id: queue.id }, body: { operators: rankChanges(current, list) } });
    setDraft(null);
  };
  const unranked = [...names].filter(([id]) => list.every((each) => each.id !== id));
  return (
    <Stack maw={640}>
      {queue.operator_ranking_enabled ? null : <Alert color="yellow">{texts.prioritiesOff}</Alert>}
      <Text size="sm" c="dimmed">
        {texts.rankingHelp(lastRank)}
      </Text>
      <RankList list={list} names={names} onChange={setDraft} />
      <Select
        label={texts.addOperator}
        placeholder={unranked.length === 0 ? texts.allOperatorsRanked : texts.searchByName}
        disabled={unranked.length === 0}
        searchable
        value={null}
        searchValue={search}
        onSearchChange={setSearch}
        onChange={(id) => {
          if (id !== null) setDraft(appendRank(list, id));
          setSearch('');
        }}
        data={unranked.map(([id, name]) => ({ value: id, label: name }))}
        nothingFoundMessage={texts.noMatchingOperators}
      />
      {gone === 0 ? null : (
        <Text size="sm" c="dimmed">
          {texts.rankedOperatorsGone(gone)}
        </Text>
      )}
      <ProblemNote error={save.error} title={texts.couldNotSavePriorities} />
      <Group>
        <Button disabled={!isChanged} loading={save.isPending} onClick={() => void submit().catch(() => undefined)}>
          {texts.savePriorities}
        </Button>
        <Button variant="default" disabled={!isChanged} onClick={() => setDraft(null)}>
          {texts.discard}
        </Button>
      </Group>
    </Stack>
  );
}

interface ListProps {
  readonly list: readonly Ranking[];
  readonly names: ReadonlyMap<string, string>;
  readonly onChange: (list: readonly Ranking[]) => void;
}

function RankList({ list, names, onChange }: ListProps): ReactElement {
  const sensors = useSensors(
    useSensor(PointerSensor),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const nameOf = (id: string | number): string => names.get(String(id)) ?? texts.unknownOperator;
  const indexOf = (id: string | number | undefined): number => list.findIndex((each) => each.id === id);
  const onDragEnd = ({ active, over }: DragEndEvent): void => {
    if (over !== null && over.id !== active.id) onChange(moveRank(list, indexOf(active.id), indexOf(over.id)));
  };
  if (list.length === 0) return <Text size="sm">{texts.noOperatorsRankedYet}</Text>;
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={onDragEnd}
      accessibility={{
        announcements: {
          onDragStart: ({ active }) => texts.pickedUp(nameOf(active.id)),
          onDragOver: ({ active, over }) =>
            over === null ? undefined : texts.movedOver(nameOf(active.id), indexOf(over.id) + 1, list.length),
          onDragEnd: ({ active, over }) => texts.dropped(nameOf(active.id), indexOf(over?.id) + 1),
          onDragCancel: ({ active }) => texts.moveCancelled(nameOf(active.id)),
        },
      }}
    >
      <SortableContext items={list.map(({ id }) => id)} strategy={verticalListSortingStrategy}>
        <Stack gap={2} component="ul" className={classes['bare']} aria-label={texts.priorities}>
          {list.map(({ id, rank }) => (
            <Ranked
              key={id}
              id={id}
              name={nameOf(id)}
              rank={rank}
              onRank={(next) => onChange(withRank(list, id, next))}
              onRemove={() => onChange(list.filter((each) => each.id !== id))}
            />
          ))}
        </Stack>
      </SortableContext>
    </DndContext>
  );
}

interface RankedProps {
  readonly id: string;
  readonly name: string;
  readonly rank: number;
  readonly onRank: (rank: number) => void;
  readonly onRemove: () => void;
}

const allRanks = Array.from({ length: lastRank }, (_, index) => String(index + 1));

function Ranked({ id, name, rank, onRank, onRemove }: RankedProps): ReactElement {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id,
  });
  return (
    <li
      ref={setNodeRef}
      aria-label={texts.nameAndRank(name, rank)}
      className={classes['ranked']}
      data-dragging={isDragging || undefined}
      style={{ transform: transform === null ? undefined : `translate3d(0, ${transform.y}px, 0)`, transition }}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        ref={setActivatorNodeRef}
        className={classes['handle']}
        {...attributes}
        {...listeners}
        aria-label={texts.move(name)}
      >
        <DragHandleDots2Icon />
      </ActionIcon>
      <Text size="sm" flex={1} miw={0} className="user-text">
        {name}
      </Text>
      <Select
        aria-label={texts.rankOf(name)}
        size="xs"
        w={72}
        allowDeselect={false}
        value={String(rank)}
        onChange={(value) => onRank(Number(value))}
        data={allRanks}
      />
      <ActionIcon variant="default" aria-label={texts.removeRanked(name)} onClick={onRemove}>
        <Cross2Icon />
      </ActionIcon>
    </li>
  );
}
