import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Site } from '@usher/sdk/api-types';
import { UsherError } from '@usher/sdk/errors';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { notifySaved } from '../../components/editing/notify-saved.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { describeContents } from './site-contents.ts';
import { texts } from './texts.ts';

const refresh = [
  'GET /sites',
  'GET /operator_authentication/sessions/current',
  'GET /queues',
  'GET /webhooks',
] as const;

/** An empty site is deleted immediately. For any other the server lists its contents first, and the name must be typed. */
export function DeleteSite({ site }: { readonly site: Site }): ReactElement {
  const [, navigate] = useLocation();
  const [opened, { open, close }] = useDisclosure();
  const [typed, setTyped] = useState('');
  const [contents, setContents] = useState<readonly string[] | null>(null);
  const removal = useChange('DELETE /sites/{site_id}', {
    refresh,
    onDone: () => {
      navigate('/sites', { replace: true });
      notifySaved(texts.siteDeleted);
    },
  });
  const dismiss = (): void => {
    close();
    setTyped('');
    setContents(null);
    removal.reset();
  };
  const submit = (): void => {
    const confirm = contents === null ? {} : { query: { confirm: typed } };
    removal.mutate(
      { path: { site_id: site.id }, ...confirm },
      {
        onError: (error) => {
          if (error instanceof UsherError && error.code === 'site_not_empty')
            setContents(describeContents(error.details));
        },
      },
    );
  };
  const { error } = removal;
  const needsConfirmation = error instanceof UsherError && error.code === 'site_not_empty';
  const inProgress = error instanceof UsherError && error.code === 'site_busy' ? describeContents(error.details) : [];
  return (
    <>
      <Button variant="default" onClick={open}>
        {texts.deleteSite}
      </Button>
      <Modal opened={opened} onClose={dismiss} title={texts.confirmDeleteSite}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Stack>
            <Text className="user-text" fw={600}>
              {site.name}
            </Text>
            {contents === null ? (
              <Text size="sm">{texts.deleteSiteHelp}</Text>
            ) : (
              <Contents contents={contents} typed={typed} onType={setTyped} />
            )}
            {needsConfirmation ? null : <ProblemNote error={error} title={texts.couldNotDeleteSite} />}
            {inProgress.length === 0 ? null : <TextList label={texts.inProgress} items={inProgress} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={dismiss} data-autofocus>
                {texts.cancel}
              </Button>
              <Button
                type="submit"
                color="red"
                loading={removal.isPending}
                disabled={contents !== null && typed !== site.name}
              >
                {texts.deleteSite}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

interface ContentsProps {
  readonly contents: readonly string[];
  readonly typed: string;
  readonly onType: (text: string) => void;
}

function Contents({ contents, typed, onType }: ContentsProps): ReactElement {
  const field = useRef<HTMLInputElement>(null);
  // The clicked button is disabled now: the focus moves to the name input.
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <Text size="sm">{texts.alsoDeleted}</Text>
      <TextList label={texts.deletedWithSite} items={contents} />
      <Text size="sm" c="dimmed">
        {texts.keptAfterDeletion}
      </Text>
      <TextInput
        ref={field}
        label={texts.typeSiteNameToConfirm}
        autoComplete="off"
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
      />
    </>
  );
}

function TextList({ label, items }: { readonly label: string; readonly items: readonly string[] }): ReactElement {
  return (
    <List size="sm" aria-label={label}>
      {items.map((each) => (
        <List.Item key={each}>{each}</List.Item>
      ))}
    </List>
  );
}
