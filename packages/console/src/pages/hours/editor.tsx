import { Anchor, Center, Grid, Loader, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { SchedulingPolicy } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { ConflictDialog } from '../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { notifySaved } from '../../components/editing/notify-saved.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { SaveBar } from '../../components/editing/save-bar.tsx';
import { useEditing, type Editing } from '../../components/editing/use-editing.ts';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { usePreview } from '../../data/use-preview.ts';
import { useSession } from '../../session/use-session.ts';
import { DeleteHours } from './delete-hours.tsx';
import { bodyOf, draftOf, newDraft, type HoursDraft } from './draft.ts';
import { ExceptionsEditor } from './exceptions-editor.tsx';
import { fieldViews } from './field-views.ts';
import { Outlook } from './outlook.tsx';
import { RowList } from './row-list.tsx';
import { texts } from './texts.ts';
import { TimeZoneSelect } from './time-zone-select.tsx';
import { WeekGrid } from './week-grid.tsx';

export function NewHours(): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const mine = me.sites.filter(({ id }) => me.can('super_manager', id));
  const first = mine.find(({ id }) => id === me.siteId) ?? mine[0];
  const [siteId, chooseSite] = useState(first?.id ?? '');
  const [start] = useState(() => newDraft(first?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone));
  const editing = useEditing<HoursDraft>({
    current: { fields: start, etag: null },
    save: async (fields) => {
      const body = { site_id: siteId, ...bodyOf(fields) };
      const created = await api.ask('POST /queues/scheduling_policies', { body });
      void client.invalidateQueries({ queryKey: ['GET /queues/scheduling_policies'] });
      // Navigate after the form has released its unsaved changes.
      setTimeout(() => navigate(`/hours/${created.data.id}`, { replace: true }));
      return { fields, etag: created.etag };
    },
    readAgain: async () => ({ fields: start, etag: null }),
    onSaved: () => undefined,
  });
  return (
    <>
      <BackLink />
      <PageTitle title={texts.newHours} />
      {mine.length > 1 ? (
        <Select
          label={texts.site}
          description={texts.cannotChangeLater}
          mb="md"
          maw={400}
          value={siteId}
          onChange={(id) => chooseSite(id ?? siteId)}
          data={mine.map(({ id, name }) => ({ value: id, label: name }))}
          allowDeselect={false}
        />
      ) : null}
      <HoursForm editing={editing} siteId={siteId} />
      <SaveBar editing={editing} label={texts.create} />
    </>
  );
}

export function HoursEditor({ id }: { readonly id: string }): ReactElement {
  const read = useRead('GET /queues/scheduling_policies/{scheduling_policy_id}', {
    path: { scheduling_policy_id: id },
  });
  if (read.data === undefined)
    return (
      <>
        <BackLink />
        {read.isError ? (
          <ProblemNote error={read.error} title={texts.couldNotLoadHours} />
        ) : (
          <Center mih="30vh">
            <Loader aria-label={texts.loading} />
          </Center>
        )}
      </>
    );
  return <Loaded policy={read.data.data} etag={read.data.etag} />;
}

function Loaded({ policy, etag }: { readonly policy: SchedulingPolicy; readonly etag: string | null }): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const path = { scheduling_policy_id: policy.id };
  const editing = useEditing<HoursDraft>({
    current: { fields: draftOf(policy), etag },
    save: async (fields, version) => {
      const operation = 'PUT /queues/scheduling_policies/{scheduling_policy_id}';
      const saved = await api.ask(operation, { path, body: bodyOf(fields), ifMatch: version });
      return { fields: draftOf(saved.data), etag: saved.etag };
    },
    readAgain: async () => {
      const current = await api.ask('GET /queues/scheduling_policies/{scheduling_policy_id}', { path });
      return { fields: draftOf(current.data), etag: current.etag };
    },
    onSaved: () => {
      notifySaved(texts.hoursSaved);
      void client.invalidateQueries({ queryKey: ['GET /queues/scheduling_policies'] });
      void client.invalidateQueries({ queryKey: ['GET /queues/scheduling_policies/{scheduling_policy_id}'] });
    },
  });
  return (
    <>
      <BackLink />
      <PageTitle title={policy.name}>
        <DeleteHours policy={policy} />
      </PageTitle>
      <HoursForm editing={editing} siteId={policy.site_id} />
      <SaveBar editing={editing} label={texts.save} />
      {editing.theirs === null ? null : (
        <ConflictDialog
          key={editing.theirs.etag}
          what="hours"
          base={editing.base}
          mine={editing.draft}
          theirs={editing.theirs.fields}
          views={fieldViews}
          saving={editing.saving}
          error={editing.error}
          onSave={editing.resolve}
          onClose={editing.dismiss}
        />
      )}
    </>
  );
}

function BackLink(): ReactElement {
  return (
    <Anchor component={Link} href="/hours" size="sm">
      {texts.allHours}
    </Anchor>
  );
}

/** The week at the left, the next 14 days at the right. */
function HoursForm({
  editing,
  siteId,
}: {
  readonly editing: Editing<HoursDraft>;
  readonly siteId: string;
}): ReactElement {
  const { draft, set, error } = editing;
  const [from, setFrom] = useState<string | null>(null);
  const { timezone, business_hours, exceptions } = draft;
  const preview = usePreview(
    'POST /queues/scheduling_policies/preview',
    {
      body: {
        site_id: siteId,
        timezone,
        business_hours,
        exceptions,
        days: 14,
        ...(from === null ? {} : { from }),
      },
    },
    siteId !== '' && business_hours.length > 0,
  );
  const fault = faultsOf(error, preview.error);
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <Stack gap="lg">
          {hasOnlyFieldErrors(error) ? null : <ProblemNote error={error} title={texts.couldNotSave} />}
          <TextInput
            label={texts.name}
            required
            value={draft.name}
            error={fault('/name')}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Textarea
            label={texts.description}
            autosize
            maxRows={4}
            value={draft.description}
            error={fault('/description')}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <TimeZoneSelect value={timezone} fault={fault('/timezone')} onChange={(zone) => set({ timezone: zone })} />
          <WeekGrid rows={business_hours} onChange={(rows) => set({ business_hours: rows })} />
          {business_hours.length === 0 ? (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {texts.noTimeRanges}
            </Text>
          ) : null}
          <RowList rows={business_hours} fault={fault} onChange={(rows) => set({ business_hours: rows })} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Stack gap="lg">
          <Outlook preview={preview} timezone={timezone} from={from} onFrom={setFrom} />
          <ExceptionsEditor
            exceptions={exceptions}
            timezone={timezone}
            fault={fault}
            onChange={(next) => set({ exceptions: next })}
          />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
