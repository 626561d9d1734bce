import { Alert, Anchor, Button, Grid, Group, Stack } from '@mantine/core';
import type { Operator } from '@usher/sdk/api-types';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ConflictDialog } from '../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { notifySaved } from '../../components/editing/notify-saved.ts';
import { PictureField } from '../../components/picture-field.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { Loading } from '../../components/states.tsx';
import { useEditing, type Version } from '../../components/editing/use-editing.ts';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { useFeedItems } from '../../live/use-live-feed.ts';
import { useSession } from '../../session/use-session.ts';
import { AccessTokens } from './access-tokens.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Availability } from './availability.tsx';
import { EnableButton } from './enable-button.tsx';
import { describeAssignment, draftOf, type PersonDraft } from './person.ts';
import { PersonForm } from './person-form.tsx';
import { SignIn } from './sign-in.tsx';
import { texts } from './texts.ts';
import { byId, mayChange, useTeams } from './use-people.ts';

const pollMs = 10_000;

export function PersonPage({ id }: { readonly id: string }): ReactElement {
  const client = useQueryClient();
  const read = useRead('GET /operators/{operator_id}', { path: { operator_id: id } }, { refetchInterval: pollMs });
  useFeedItems(['operator.state'], ({ data }) => {
    if ((data as Operator).id === id) void client.invalidateQueries({ queryKey: ['GET /operators/{operator_id}'] });
  });
  return (
    <>
      <Anchor component={Link} href="/people" size="sm">
        {texts.backToPeople}
      </Anchor>
      {read.data === undefined ? (
        read.isError ? (
          <ProblemNote error={read.error} title={texts.couldNotLoadOperator} />
        ) : (
          <Loading />
        )
      ) : (
        <Loaded person={read.data.data} etag={read.data.etag} />
      )}
    </>
  );
}

function Loaded({ person, etag }: { readonly person: Operator; readonly etag: string | null }): ReactElement {
  const me = useMe();
  const canChange = mayChange(me, person);
  return (
    <>
      <PageTitle title={person.name}>
        <Availability person={person} />
        {canChange ? <EnableButton person={person} etag={etag} /> : null}
      </PageTitle>
      {canChange ? null : (
        <Alert color="gray" mb="md">
          {texts.onlySuperManagers}
        </Alert>
      )}
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Details person={person} etag={etag} readOnly={!canChange} />
        </Grid.Col>
        {canChange || person.id === me.operator.id ? (
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Stack gap="xl">
              <PictureField operator={person} />
              <SignIn person={person} />
              <ApiKeys person={person} />
              <AccessTokens person={person} />
            </Stack>
          </Grid.Col>
        ) : null}
      </Grid>
    </>
  );
}

interface DetailsProps {
  readonly person: Operator;
  readonly etag: string | null;
  readonly readOnly: boolean;
}

function Details({ person, etag, readOnly }: DetailsProps): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const client = useQueryClient();
  const path = { operator_id: person.id };
  const sites = byId(me.sites);
  const teams = byId(useTeams().data ?? []);
  const editing = useEditing<PersonDraft>({
    current: { fields: draftOf(person), etag },
    save: async (body, version) => {
      const saved = await api.ask('PATCH /operators/{operator_id}', { path, body, ifMatch: version });
      return { fields: draftOf(saved.data), etag: saved.etag };
    },
    readAgain: async (): Promise<Version<PersonDraft>> => {
      const now = await api.ask('GET /operators/{operator_id}', { path });
      return { fields: draftOf(now.data), etag: now.etag };
    },
    onSaved: () => {
      notifySaved(texts.operatorSaved);
      for (const read of [
        'GET /operators',
        'GET /operators/{operator_id}',
        'GET /operator_authentication/sessions/current',
      ])
        void client.invalidateQueries({ queryKey: [read] });
    },
  });
  const { error } = editing;
  const faults = faultsOf(error);
  return (
    <form
      aria-label={texts.details}
      onSubmit={(event) => {
        event.preventDefault();
        editing.submit();
      }}
    >
      <PersonForm draft={editing.draft} set={editing.set} faults={faults} readOnly={readOnly} />
      {hasOnlyFieldErrors(error) || faults('/email') !== undefined ? null : <ProblemNote error={error} />}
      {readOnly ? null : (
        <Group mt="md" gap="xs">
          <Button type="submit" disabled={!editing.isChanged} loading={editing.saving}>
            {texts.save}
          </Button>
          <Button variant="default" disabled={!editing.isChanged} onClick={editing.discard}>
            {texts.discard}
          </Button>
        </Group>
      )}
      {editing.theirs === null ? null : (
        <ConflictDialog
          key={editing.theirs.etag}
          what="operator"
          base={editing.base}
          mine={editing.draft}
          theirs={editing.theirs.fields}
          views={{
            name: { label: texts.name, show: (name) => name },
            display_name: { label: texts.displayName, show: (name) => name || texts.sameAsName },
            email: { label: texts.email, show: (email) => email },
            max_engagement_count: { label: texts.maxConcurrentChats, show: String },
            assignments: {
              label: texts.rolesAndTeams,
              show: (all) => all.map((each) => describeAssignment(each, sites, teams)).join('; ') || texts.noneValue,
            },
          }}
          saving={editing.saving}
          error={error}
          onSave={editing.resolve}
          onClose={editing.dismiss}
        />
      )}
    </form>
  );
}
