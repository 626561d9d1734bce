import { Button, Group } from '@mantine/core';
import type { Site } from '@usher/sdk/api-types';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { ConflictDialog } from '../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { notifySaved } from '../../components/editing/notify-saved.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useEditing, type Version } from '../../components/editing/use-editing.ts';
import { useSession } from '../../session/use-session.ts';
import { draftOf, findViolations, type SiteDraft } from './draft.ts';
import { SiteForm } from './settings-form.tsx';
import { texts } from './texts.ts';
import { siteViews } from './views.ts';

interface Props {
  readonly site: Site;
  readonly etag: string | null;
  readonly readOnly: boolean;
}

export function SiteSettings({ site, etag, readOnly }: Props): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const path = { site_id: site.id };
  const editing = useEditing<SiteDraft>({
    current: { fields: draftOf(site), etag },
    save: async (body, version) => {
      const saved = await api.ask('PATCH /sites/{site_id}', { path, body, ifMatch: version });
      return { fields: draftOf(saved.data), etag: saved.etag };
    },
    readAgain: async (): Promise<Version<SiteDraft>> => {
      const now = await api.ask('GET /sites/{site_id}', { path });
      return { fields: draftOf(now.data), etag: now.etag };
    },
    onSaved: () => {
      notifySaved(texts.siteSaved);
      void client.invalidateQueries({ queryKey: ['GET /sites'] });
      void client.invalidateQueries({ queryKey: ['GET /sites/{site_id}'] });
    },
  });
  const { draft, error } = editing;
  const violations = findViolations(draft);
  return (
    <form
      aria-label={texts.settings}
      onSubmit={(event) => {
        event.preventDefault();
        if (violations.length === 0) editing.submit();
      }}
    >
      <SiteForm draft={draft} set={editing.set} faults={faultsOf(violations, error)} readOnly={readOnly} />
      {hasOnlyFieldErrors(error) ? null : <ProblemNote error={error} />}
      {readOnly ? null : (
        <Group mt="md" gap="xs">
          <Button type="submit" disabled={!editing.isChanged || violations.length > 0} loading={editing.saving}>
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
          what="site"
          base={editing.base}
          mine={draft}
          theirs={editing.theirs.fields}
          views={siteViews}
          saving={editing.saving}
          error={error}
          onSave={editing.resolve}
          onClose={editing.dismiss}
        />
      )}
    </form>
  );
}
