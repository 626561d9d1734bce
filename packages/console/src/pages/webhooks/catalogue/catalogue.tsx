import { Anchor, Code, Grid, Loader, NavLink, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import type { EventType } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { LongText } from '../long-text.tsx';
import { SchemaTree } from './schema-tree.tsx';
import { useEventTypes } from './use-event-types.ts';
import { verifySnippet } from './verify-snippet.ts';

/** Every event there is: when it happens, what is sent, and how to know that it is from here. */
export function CataloguePage({ type }: { readonly type: string | null }): ReactElement {
  const { read, all, matching } = useEventTypes();
  const [search, setSearch] = useState('');
  const shown = matching(search);
  const open = all.find(({ event_type }) => event_type === type) ?? all[0];
  return (
    <>
      <Anchor component={Link} href="/webhooks" size="sm">
        All webhooks
      </Anchor>
      <PageTitle title="Event catalogue" />
      <ProblemNote error={read.error} />
      {open === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : (
        <Grid gap="xl">
          <Grid.Col span={{ base: 12, md: 4 }}>
            <TextInput
              aria-label="Search event types"
              placeholder="Search by name or meaning"
              leftSection={<MagnifyingGlassIcon aria-hidden />}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
              mb="xs"
            />
            <nav aria-label="Event types">
              {shown.length === 0 ? <NoMatch clear={() => setSearch('')}>No matching event types</NoMatch> : null}
              {shown.map(({ event_type: name }) => (
                <NavLink
                  key={name}
                  component={Link}
                  href={`/webhooks/catalogue/${name}`}
                  label={name}
                  active={name === open.event_type}
                  py={4}
                />
              ))}
            </nav>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 8 }}>
            <Entry key={open.event_type} type={open} />
          </Grid.Col>
        </Grid>
      )}
    </>
  );
}

function Entry({ type }: { readonly type: EventType }): ReactElement {
  const [form, setForm] = useState('tree');
  return (
    <Stack>
      <Title order={2} size="h3">
        {type.event_type}
      </Title>
      <Text>{type.description}</Text>
      <section>
        <Title order={3} size="h5" mb="xs">
          Sample
        </Title>
        <LongText label="Sample" text={JSON.stringify(type.sample, null, 2)} />
      </section>
      <section>
        <Title order={3} size="h5" mb="xs">
          Fields
        </Title>
        <SegmentedControl
          aria-label="Schema"
          size="xs"
          value={form}
          onChange={setForm}
          data={[
            { value: 'tree', label: 'Readable' },
            { value: 'raw', label: 'JSON Schema' },
          ]}
          mb="xs"
        />
        {form === 'tree' ? (
          <SchemaTree schema={type.schema} />
        ) : (
          <LongText label="JSON Schema" text={JSON.stringify(type.schema, null, 2)} />
        )}
      </section>
      <section>
        <Title order={3} size="h5" mb="xs">
          How a receiver verifies the signature
        </Title>
        <Text size="sm" mb="xs">
          Requests are signed as Standard Webhooks has it: any of its libraries will do, or these lines of Node.js.
          Answer with any 2xx within 15 seconds, and expect the same <Code>webhook-id</Code> more than once.
        </Text>
        <LongText label="Verifying" text={verifySnippet} />
      </section>
    </Stack>
  );
}
