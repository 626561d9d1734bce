import { Anchor, Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useEditing } from '../../components/editing/use-editing.ts';
import { useSession } from '../../session/use-session.ts';
import { findViolations, newDraft, type SiteDraft } from './draft.ts';
import { SiteForm } from './settings-form.tsx';
import { texts } from './texts.ts';

export function NewSite(): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const editing = useEditing<SiteDraft>({
    current: { fields: newDraft, etag: null },
    save: async (fields) => {
      const created = await api.ask('POST /sites', { body: fields });
      // The creator of a site is its super manager, so their permissions have changed.
      await client.invalidateQueries({ queryKey: ['GET /operator_authentication/sessions/current'] });
      await client.invalidateQueries({ queryKey: ['GET /sites'] });
      // Navigate after the form has released its unsaved changes.
      setTimeout(() => navigate(`/sites/${created.data.id}`, { replace: true }));
      return { fields, etag: created.etag };
    },
    readAgain: async () => ({ fields: newDraft, etag: null }),
    onSaved: () => undefined,
  });
  const { draft, error } = editing;
  const violations = findViolations(draft);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (violations.length === 0) editing.submit();
      }}
    >
      <Anchor component={Link} href="/sites" size="sm">
        {texts.backToSites}
      </Anchor>
      <PageTitle title={texts.newSite} />
      <SiteForm draft={draft} set={editing.set} faults={faultsOf(violations, error)} readOnly={false} />
      {hasOnlyFieldErrors(error) ? null : <ProblemNote error={error} />}
      <Button type="submit" mt="md" loading={editing.saving} disabled={violations.length > 0}>
        {texts.create}
      </Button>
    </form>
  );
}
