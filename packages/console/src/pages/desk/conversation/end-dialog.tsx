import { Button, Group, Modal, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import type { Conversation } from './conversation.ts';

interface Props {
  readonly chat: Conversation;
  readonly isShown: boolean;
  readonly close: () => void;
}

/** Ending cannot be undone, so it asks for confirmation; Enter confirms. */
export function EndDialog({ chat, isShown, close }: Props): ReactElement {
  const end = useChange('PATCH /engagements/{engagement_id}', { onDone: close });
  return (
    <Modal opened={isShown} onClose={close} title={texts.confirmEnd} size="sm">
      <Text size="sm" mb="md">
        {texts.confirmEndHelp}
      </Text>
      <ProblemNote error={end.error} />
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close}>
          {texts.cancel}
        </Button>
        <Button
          color="red"
          data-autofocus
          loading={end.isPending}
          onClick={() => end.mutate({ path: { engagement_id: chat.id }, body: { action: 'end' } })}
        >
          {texts.endConversation}
        </Button>
      </Group>
    </Modal>
  );
}
