import { Badge, CloseButton, Group, Progress, Stack, Text } from '@mantine/core';
import type { File } from '@usher/sdk/api-types';
import { useSyncExternalStore, type ReactElement, type ReactNode } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import classes from '../desk.module.css';
import { texts } from '../texts.ts';
import { useDesk } from '../use-desk.ts';

interface Props {
  readonly chat: Conversation;
  /** Uploaded, but not sent yet. */
  readonly files: readonly File[];
  readonly dismiss: (fileId: string) => void;
}

const scans = {
  pending: { color: 'gray', label: texts.scanning },
  clean: { color: 'green', label: texts.clean },
  unscanned: { color: 'yellow', label: texts.notScanned },
  infected: { color: 'red', label: texts.virusFoundNotSent },
} as const;

/** A server without a scanner accepts every file, so such a file was not found clean. */
function scanOf({ state, scanned_at: at }: File): keyof typeof scans {
  return state === 'clean' && at === null ? 'unscanned' : state;
}

/** The files of the next message. */
export function StagedFiles({ chat, files, dismiss }: Props): ReactElement | null {
  const { uploads } = useDesk();
  const inProgress = useSyncExternalStore(uploads.subscribe, uploads.state).get(chat.id) ?? [];
  if (inProgress.length + files.length === 0) return null;
  return (
    <Stack gap={4} mb="xs" component="ul" className={classes['plain'] ?? ''} aria-label={texts.filesToSend}>
      {inProgress.map(({ key, name, share, problem }) => (
        <Staged key={key} name={name} remove={() => uploads.remove(chat.id, key)}>
          {problem === null ? (
            <Progress value={share * 100} w={90} aria-label={texts.uploading(name)} />
          ) : (
            <Text size="xs" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          )}
        </Staged>
      ))}
      {files.map((file) => (
        <Staged key={file.id} name={file.name} remove={() => dismiss(file.id)}>
          <Badge size="sm" variant="light" color={scans[scanOf(file)].color} flex="none">
            {scans[scanOf(file)].label}
          </Badge>
        </Staged>
      ))}
    </Stack>
  );
}

interface StagedProps {
  readonly name: string;
  readonly remove: () => void;
  readonly children: ReactNode;
}

function Staged({ name, remove, children }: StagedProps): ReactElement {
  return (
    <Group gap="xs" wrap="nowrap" component="li">
      <Text size="sm" truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
      {children}
      <CloseButton size="sm" aria-label={texts.remove(name)} onClick={remove} />
    </Group>
  );
}
