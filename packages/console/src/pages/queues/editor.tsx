import { Alert, Anchor, Center, Grid, Loader, Select, Stack, Tabs } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { welcomeFaults } from '@usher/contract/response-card';
import { useState, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { ConflictDialog } from '../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { notifySaved } from '../../components/editing/notify-saved.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { SaveBar } from '../../components/editing/save-bar.tsx';
import { useEditing, type Editing, type Version } from '../../components/editing/use-editing.ts';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { usePreview } from '../../data/use-preview.ts';
import { useSession } from '../../session/use-session.ts';
import { Channels } from './channels.tsx';
import { DeleteQueue } from './delete-queue.tsx';
import { bodyOf, draftOf, newDraft, type QueueDraft } from './draft.ts';
import { Effect } from './effect.tsx';
import { fallbackLoop } from './fallbacks.ts';
import { useFieldViews } from './field-views.tsx';
import { CapacityFields, NameFields } from './fields-basic.tsx';
import { LinkFields, RoutingFields, ServiceFields } from './fields-routing.tsx';
import { RankingTab } from './ranking.tsx';
import { texts } from './texts.ts';
import { useQueues, type Queue } from './use-queues.ts';
import classes from './queues.module.css';
import { WelcomeEditor } from './welcome-editor.tsx';

export function NewQueue(): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const [, navigate] = useLocation();
  const mine = me.sites.filter(({ id }) => me.can('super_manager', id));
  const [siteId, chooseSite] = useState(mine.find(({ id }) => id === me.siteId)?.id ?? mine[0]?.id ?? '');
  const editing = useEditing<QueueDraft>({
    current: { fields: newDraft, etag: null },
    save: async (fields) => {
      const created = await api.ask('POST /queues', { body: { site_id: siteId, ...bodyOf(fields) } });
      navigateSoon(created.data.id);
      return { fields, etag: created.etag };
    },
    readAgain: async () => ({ fields: newDraft, etag: null }),
    onSaved: () => undefined,
  });
  const client = useQueryClient();
  const navigateSoon = (id: string): void => {
    void client.invalidateQueries({ queryKey: ['GET /queues'] });
    // Navigate after the form has released its unsaved changes.
    setTimeout(() => navigate(`/queues/${id}`, { replace: true }));
  };
  return (
    <>
      <BackLink />
      <PageTitle title={texts.newQueue} />
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
      <QueueForm editing={editing} siteId={siteId} queue={null} />
      <SaveBar editing={editing} label={texts.create} />
    </>
  );
}

export function QueueEditor({ id }: { readonly id: string }): ReactElement {
  const read = useRead('GET /queues/{queue_id}', { path: { queue_id: id } });
  if (read.data === undefined)
    return (
      <>
        <BackLink />
        {read.isError ? (
          <ProblemNote error={read.error} title={texts.couldNotLoadQueue} />
        ) : (
          <Center mih="30vh">
            <Loader aria-label={texts.loading} />
          </Center>
        )}
      </>
    );
  return <Loaded queue={read.data.data} etag={read.data.etag} />;
}

function Loaded({ queue, etag }: { readonly queue: Queue; readonly etag: string | null }): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const client = useQueryClient();
  const path = { queue_id: queue.id };
  const editing = useEditing<QueueDraft>({
    current: { fields: draftOf(queue), etag },
    save: async (fields, version) => {
      const saved = await api.ask('PUT /queues/{queue_id}', { path, body: bodyOf(fields), ifMatch: version });
      return { fields: draftOf(saved.data), etag: saved.etag };
    },
    readAgain: async (): Promise<Version<QueueDraft>> => {
      const current = await api.ask('GET /queues/{queue_id}', { path });
      return { fields: draftOf(current.data), etag: current.etag };
    },
    onSaved: () => {
      notifySaved(texts.queueSaved);
      void client.invalidateQueries({ queryKey: ['GET /queues'] });
      void client.invalidateQueries({ queryKey: ['GET /queues/{queue_id}'] });
    },
  });
  const mayEdit = me.can('super_manager', queue.site_id);
  const queues = new Map((useQueues().data?.data.queues ?? []).map((each) => [each.id, each]));
  const loop = fallbackLoop(queue.id, editing.draft.fallback_queue_id, queues);
  const views = useFieldViews();
  return (
    <>
      <BackLink />
      <PageTitle title={queue.name}>{mayEdit ? <DeleteQueue queue={queue} /> : null}</PageTitle>
      {mayEdit ? null : (
        <Alert color="gray" mb="md">
          {texts.onlySuperManagers}
        </Alert>
      )}
      <Tabs defaultValue="settings">
        <Tabs.List mb="md">
          <Tabs.Tab value="settings">{texts.settings}</Tabs.Tab>
          {mayEdit ? <Tabs.Tab value="ranking">{texts.ranking}</Tabs.Tab> : null}
          {mayEdit ? <Tabs.Tab value="channels">{texts.channels}</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="settings">
          <QueueForm editing={editing} siteId={queue.site_id} queue={queue} />
          {mayEdit ? <SaveBar editing={editing} label={texts.save} blocked={loop !== null} /> : null}
        </Tabs.Panel>
        {mayEdit ? (
          <>
            <Tabs.Panel value="ranking">
              <RankingTab queue={queue} />
            </Tabs.Panel>
            <Tabs.Panel value="channels">
              <Channels queue={queue} />
            </Tabs.Panel>
          </>
        ) : null}
      </Tabs>
      {editing.theirs === null ? null : (
        <ConflictDialog
          key={editing.theirs.etag}
          what="queue"
          base={editing.base}
          mine={editing.draft}
          theirs={editing.theirs.fields}
          views={views}
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
    <Anchor component={Link} href="/queues" size="sm">
      {texts.allQueues}
    </Anchor>
  );
}

interface FormProps {
  readonly editing: Editing<QueueDraft>;
  readonly siteId: string;
  readonly queue: Queue | null;
}

/** The fields at the left, their effect at the right. */
function QueueForm({ editing, siteId, queue }: FormProps): ReactElement {
  const me = useMe();
  const mayEdit = me.can('super_manager', siteId);
  const { draft, error } = editing;
  const preview = usePreview(
    'POST /queues/preview',
    {
      body: {
        site_id: siteId,
        ...(queue === null ? {} : { id: queue.id }),
        ...bodyOf(draft),
        // A queue without a name can be previewed, too.
        name: queue === null && draft.name === '' ? texts.newQueue : draft.name,
      },
    },
    mayEdit && siteId !== '',
  );
  const typed = welcomeFaults(draft.welcome_message).map((detail) => ({ attribute: '/welcome_message', detail }));
  const fault = faultsOf(typed, error, preview.error, preview.data?.violations);
  const fields = { draft, set: editing.set, fault, siteId, queueId: queue?.id ?? null };
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <fieldset disabled={!mayEdit} className={classes['plain']}>
          <Stack gap="lg">
            {hasOnlyFieldErrors(error) ? null : <ProblemNote error={error} title={texts.couldNotSave} />}
            <NameFields {...fields} />
            <CapacityFields {...fields} />
            <RoutingFields {...fields} />
            <ServiceFields {...fields} />
            <LinkFields {...fields} />
            <WelcomeEditor
              value={draft.welcome_message}
              fault={fault('/welcome_message')}
              onChange={(welcome_message) => editing.set({ welcome_message })}
            />
          </Stack>
        </fieldset>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Effect preview={preview} draft={draft} queue={queue} isChanged={editing.isChanged} />
      </Grid.Col>
    </Grid>
  );
}
