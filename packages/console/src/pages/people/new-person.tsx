import { Anchor, Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useEditing } from '../../components/editing/use-editing.ts';
import { useMe } from '../../data/use-me.ts';
import { useSession } from '../../session/use-session.ts';
import { newDraft, type PersonDraft } from './person.ts';
import { PersonForm } from './person-form.tsx';
import { texts } from './texts.ts';

/** Creates an operator. Their page, which follows, has the invitation. */
export function NewPerson(): ReactElement {
  const me = useMe();
  const { api } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const mine = me.sites.filter(({ id }) => me.can('super_manager', id));
  const first = mine.find(({ id }) => id === me.siteId) ?? (mine.length === 1 ? mine[0] : undefined);
  const empty = newDraft(first?.id ?? null);
  const editing = useEditing<PersonDraft>({
    current: { fields: empty, etag: null },
    save: async (fields) => {
      const created = await api.ask('POST /operators', { body: fields });
      void client.invalidateQueries({ queryKey: ['GET /operators'] });
      // Navigate after the form has released its unsaved changes.
      setTimeout(() => navigate(`/people/${created.data.id}`, { replace: true }));
      return { fields, etag: created.etag };
    },
    readAgain: async () => ({ fields: empty, etag: null }),
    onSaved: () => undefined,
  });
  const { error } = editing;
  const faults = faultsOf(error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        editing.submit();
      }}
    >
      <Anchor component={Link} href="/people" size="sm">
        {texts.backToPeople}
      </Anchor>
      <PageTitle title={texts.newOperator} />
      <PersonForm draft={editing.draft} set={editing.set} faults={faults} readOnly={false} />
      <Group mt="md" maw={640}>
        <Button type="submit" loading={editing.saving}>
          {texts.create}
        </Button>
      </Group>
      {hasOnlyFieldErrors(error) || faults('/email') !== undefined ? null : <ProblemNote error={error} />}
    </form>
  );
}
