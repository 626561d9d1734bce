import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Team } from '@usher/sdk/api-types';
import { useQueryClient } from '@tanstack/react-query';
import { maxDescriptionLength, maxNameLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ConflictDialog } from '../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { Loading } from '../../components/states.tsx';
import { useEditing, type Editing, type Version } from '../../components/editing/use-editing.ts';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { useSession } from '../../session/use-session.ts';
import { texts } from './texts.ts';

interface TeamDraft {
  readonly name: string;
  readonly description: string;
}

const draftOf = ({ name, description }: Team): TeamDraft => ({ name, description: description ?? '' });
const bodyOf = ({ name, description }: TeamDraft) => ({ name, description: description === '' ? null : description });
const closeButtonProps = { 'aria-label': texts.close };

export function NewTeam(): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button onClick={open}>{texts.addTeam}</Button>
      <Modal opened={opened} onClose={close} title={texts.newTeam} closeButtonProps={closeButtonProps}>
        {opened ? <NewTeamForm onDone={close} /> : null}
      </Modal>
    </>
  );
}

function NewTeamForm({ onDone }: { readonly onDone: () => void }): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const client = useQueryClient();
  const sites = me.sites.filter(({ id }) => me.can('super_manager', id));
  const [siteId, setSite] = useState(sites.find(({ id }) => id === me.siteId)?.id ?? sites[0]?.id ?? '');
  const empty = { name: '', description: '' };
  const editing = useEditing<TeamDraft>({
    current: { fields: empty, etag: null },
    save: async (fields) => {
      const created = await api.ask('POST /teams', { body: { site_id: siteId, ...bodyOf(fields) } });
      return { fields: draftOf(created.data), etag: created.etag };
    },
    readAgain: async () => ({ fields: empty, etag: null }),
    onSaved: () => {
      void client.invalidateQueries({ queryKey: ['GET /teams'] });
      onDone();
    },
  });
  return (
    <TeamForm editing={editing} label={texts.create}>
      {sites.length > 1 ? (
        <Select
          label={texts.site}
          data={sites.map(({ id, name }) => ({ value: id, label: name }))}
          value={siteId}
          onChange={(id) => setSite(id ?? siteId)}
          allowDeselect={false}
          searchable
        />
      ) : null}
    </TeamForm>
  );
}

export function EditTeam({ team }: { readonly team: Team }): ReactElement {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" onClick={open} aria-label={texts.editTeamNamed(team.name)}>
        {texts.edit}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.editTeam} closeButtonProps={closeButtonProps}>
        {opened ? <TeamLoader id={team.id} onDone={close} /> : null}
      </Modal>
    </>
  );
}

function TeamLoader({ id, onDone }: { readonly id: string; readonly onDone: () => void }): ReactElement {
  const read = useRead('GET /teams/{team_id}', { path: { team_id: id } });
  if (read.data !== undefined) return <EditTeamForm team={read.data.data} etag={read.data.etag} onDone={onDone} />;
  return read.isError ? <ProblemNote error={read.error} /> : <Loading />;
}

interface EditProps {
  readonly team: Team;
  readonly etag: string | null;
  readonly onDone: () => void;
}

function EditTeamForm({ team, etag, onDone }: EditProps): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const path = { team_id: team.id };
  const editing = useEditing<TeamDraft>({
    current: { fields: draftOf(team), etag },
    save: async (fields, version) => {
      const saved = await api.ask('PATCH /teams/{team_id}', { path, body: bodyOf(fields), ifMatch: version });
      return { fields: draftOf(saved.data), etag: saved.etag };
    },
    readAgain: async (): Promise<Version<TeamDraft>> => {
      const now = await api.ask('GET /teams/{team_id}', { path });
      return { fields: draftOf(now.data), etag: now.etag };
    },
    onSaved: () => {
      void client.invalidateQueries({ queryKey: ['GET /teams'] });
      void client.invalidateQueries({ queryKey: ['GET /teams/{team_id}'] });
      onDone();
    },
  });
  return (
    <>
      <TeamForm editing={editing} label={texts.save} />
      {editing.theirs === null ? null : (
        <ConflictDialog
          key={editing.theirs.etag}
          what="team"
          base={editing.base}
          mine={editing.draft}
          theirs={editing.theirs.fields}
          views={{
            name: { label: texts.name, show: (name) => name },
            description: { label: texts.description, show: (text) => (text === '' ? texts.noneValue : text) },
          }}
          saving={editing.saving}
          error={editing.error}
          onSave={editing.resolve}
          onClose={editing.dismiss}
        />
      )}
    </>
  );
}

interface FormProps {
  readonly editing: Editing<TeamDraft>;
  readonly label: string;
  readonly children?: ReactElement | null;
}

function TeamForm({ editing, label, children = null }: FormProps): ReactElement {
  const { draft, error } = editing;
  const faults = faultsOf(error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        editing.submit();
      }}
    >
      <Stack>
        {children}
        <TextInput
          label={texts.name}
          required
          maxLength={maxNameLength}
          data-autofocus
          value={draft.name}
          onChange={(event) => editing.set({ name: event.currentTarget.value })}
          error={faults('/name')}
        />
        <Textarea
          label={texts.description}
          autosize
          minRows={2}
          maxLength={maxDescriptionLength}
          value={draft.description}
          onChange={(event) => editing.set({ description: event.currentTarget.value })}
          error={faults('/description')}
        />
        {hasOnlyFieldErrors(error) ? null : <ProblemNote error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={editing.saving} disabled={!editing.isChanged}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
