import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core';
import type { Webhook } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { ProblemNote } from '../../../components/problem.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { texts } from '../texts.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { filtersOf, searchParamsOf, noFilters, type Filters } from './filter.ts';
import { DeliveryFilters } from './filters.tsx';
import { maxReplayed } from './replay-all.ts';
import { ReplayMany } from './replay-many.tsx';
import { useDeliveries } from './use-deliveries.ts';

/** The deliveries of the webhook, newest first, polled. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [search, setSearch] = useSearchParams();
  const filters = filtersOf(search);
  // The cursors of the pages up to this one; empty for the newest.
  const [trail, setTrail] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const read = useDeliveries(webhook.id, filters, trail.at(-1) ?? null);
  const show = (next: Filters): void => {
    setTrail([]);
    setChosen(new Set());
    setSearch(searchParamsOf(next), { replace: true });
  };
  const page = read.data;
  return (
    <>
      <DeliveryFilters
        value={filters}
        onChange={(part) => show({ ...filters, ...part })}
        onClear={() => show(noFilters)}
      />
      <ProblemNote error={read.error} />
      <ReplayMany webhook={webhook} chosen={chosen} onClear={() => setChosen(new Set())} />
      {page === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : page.rows.length === 0 ? (
        <NoDeliveries
          cutShort={page.cutShort}
          isFiltered={Object.keys(searchParamsOf(filters)).length > 0 || trail.length > 0}
          clear={() => show(noFilters)}
        />
      ) : (
        <DeliveryTable
          webhookId={webhook.id}
          rows={page.rows}
          chosen={chosen}
          onChoose={(ids) => setChosen(new Set([...ids].slice(0, maxReplayed)))}
        />
      )}
      {page?.cutShort === true && page.rows.length > 0 ? (
        <Alert color="blue" mt="sm">
          {texts.newestPartOnly}
        </Alert>
      ) : null}
      <Group mt="sm" gap="xs">
        <Button variant="default" size="xs" disabled={trail.length === 0} onClick={() => setTrail(trail.slice(0, -1))}>
          {texts.newer}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={(page?.next ?? null) === null || read.isPlaceholderData}
          onClick={() => setTrail([...trail, page?.next ?? ''])}
        >
          {page?.cutShort === true ? texts.searchOlderDeliveries : texts.older}
        </Button>
        {trail.length === 0 ? null : (
          <Button variant="subtle" size="xs" onClick={() => setTrail([])}>
            {texts.newest}
          </Button>
        )}
      </Group>
    </>
  );
}

interface NoDeliveriesProps {
  readonly cutShort: boolean;
  readonly isFiltered: boolean;
  readonly clear: () => void;
}

function NoDeliveries({ cutShort, isFiltered, clear }: NoDeliveriesProps): ReactElement {
  if (!isFiltered && !cutShort)
    return (
      <Stack gap={4} py="md">
        <Text fw={600}>{texts.noDeliveriesYet}</Text>
        <Text size="sm">{texts.noDeliveriesYetHelp}</Text>
      </Stack>
    );
  return <NoMatch clear={clear}>{cutShort ? texts.noMatchInNewestPart : texts.noMatchingDeliveries}</NoMatch>;
}
