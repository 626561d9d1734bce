import { Anchor, Code, Grid, Loader, NavLink, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import type { EventType } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { LongText } from '../long-text.tsx';
import { texts } from '../texts.ts';
import { SchemaTree } from './schema-tree.tsx';
import { useEventTypes } from './use-event-types.ts';
import { verifySnippet } from './verify-snippet.ts';

/** All event types: when each occurs, a sample, its fields, and how to verify the signature. */
export function CataloguePage({ type }: { readonly type: string | null }): ReactElement {
  const { read, all, matching } = useEventTypes();
  const [search, setSearch] = useState('');
  const shown = matching(search);
  const open = all.find(({ event_type }) => event_type === type) ?? all[0];
  return (
    <>
      <Anchor component={Link} href="/webhooks" size="sm">
        {texts.allWebhooks}
      </Anchor>
      <PageTitle title={texts.eventCatalogue} />
      <ProblemNote error={read.error} />
      {open === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : (
        <Grid gap="xl">
          <Grid.Col span={{ base: 12, md: 4 }}>
            <TextInput
              aria-label={texts.searchEventTypes}
              placeholder={texts.searchByNameOrDescription}
              leftSection={<MagnifyingGlassIcon aria-hidden />}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
              mb="xs"
            />
            <nav aria-label={texts.eventTypes}>
              {shown.length === 0 ? <NoMatch clear={() => setSearch('')}>{texts.noMatchingEventTypes}</NoMatch> : null}
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
          {texts.sample}
        </Title>
        <LongText label={texts.sample} text={JSON.stringify(type.sample, null, 2)} />
      </section>
      <section>
        <Title order={3} size="h5" mb="xs">
          {texts.fields}
        </Title>
        <SegmentedControl
          aria-label={texts.schema}
          size="xs"
          value={form}
          onChange={setForm}
          data={[
            { value: 'tree', label: texts.fields },
            { value: 'raw', label: texts.jsonSchema },
          ]}
          mb="xs"
        />
        {form === 'tree' ? (
          <SchemaTree schema={type.schema} />
        ) : (
          <LongText label={texts.jsonSchema} text={JSON.stringify(type.schema, null, 2)} />
        )}
      </section>
      <section>
        <Title order={3} size="h5" mb="xs">
          {texts.verifySignature}
        </Title>
        <Text size="sm" mb="xs">
          <RichText text={texts.verifyHelp} values={{ header: <Code>webhook-id</Code> }} />
        </Text>
        <LongText label={texts.signatureVerificationInNodeJs} text={verifySnippet} />
      </section>
    </Stack>
  );
}
