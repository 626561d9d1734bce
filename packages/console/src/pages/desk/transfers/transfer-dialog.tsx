import {
  Badge,
  Button,
  Group,
  Modal,
  Radio,
  ScrollArea,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { statusNames } from '../../../components/queue-status.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { useRead } from '../../../data/use-api.ts';
import { useMe } from '../../../data/use-me.ts';
import { useSession } from '../../../session/use-session.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { texts } from '../texts.ts';
import { useAvailableColleagues } from './use-colleagues.ts';
import { useDesk } from '../use-desk.ts';

type Kind = 'request' | 'ticket';

interface Target {
  readonly id: string;
  readonly name: string;
  readonly note: string;
  /** Why it cannot be chosen. */
  readonly obstacle: string | null;
}

/** Chooses the target of a transfer: an available colleague or a queue. */
export function TransferDialog({
  chat,
  close,
}: {
  readonly chat: Conversation;
  readonly close: () => void;
}): ReactElement {
  const [kind, setKind] = useState<Kind>('request');
  const [search, setSearch] = useState('');
  const [to, setTo] = useState('');
  const [message, setMessage] = useState('');
  const { targets, isPending, error } = useTargets(chat, kind);
  const { transfer, isSending, problem } = useTransfer(chat, close);
  const found = targets.filter(({ name, note }) =>
    `${name} ${note}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  const submit = (event: Pick<Event, 'preventDefault'>): void => {
    event.preventDefault();
    if (to !== '') void transfer(kind, to, message.trim());
  };
  return (
    <Modal opened onClose={close} title={texts.transfer}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <SegmentedControl
            aria-label={texts.transferTo}
            value={kind}
            onChange={(value) => {
              setKind(value);
              setTo('');
            }}
            data={[
              { value: 'request', label: texts.colleague },
              { value: 'ticket', label: texts.queue },
            ]}
          />
          <TextInput
            aria-label={texts.search}
            placeholder={texts.search}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
            data-autofocus
          />
          <ProblemNote error={error} />
          <ScrollArea.Autosize mah={260} type="auto">
            <Radio.Group value={to} onChange={setTo} aria-label={kind === 'request' ? texts.colleagues : texts.queues}>
              <Stack gap={8} p={2}>
                {found.map((target) => (
                  <TargetRadio key={target.id} target={target} />
                ))}
              </Stack>
            </Radio.Group>
          </ScrollArea.Autosize>
          {found.length > 0 || isPending ? null : (
            <Text size="sm" c="dimmed">
              {targets.length > 0 ? texts.noResults : kind === 'request' ? texts.noColleaguesAvailable : texts.noQueues}
            </Text>
          )}
          <Textarea
            label={texts.message}
            description={texts.noteHelp}
            autosize
            minRows={2}
            maxRows={5}
            maxLength={1_000}
            value={message}
            onChange={({ currentTarget }) => setMessage(currentTarget.value)}
          />
          <ProblemNote error={problem} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {texts.cancel}
            </Button>
            <Button type="submit" disabled={to === ''} loading={isSending}>
              {texts.transfer}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function TargetRadio({ target: { id, name, note, obstacle } }: { readonly target: Target }): ReactElement {
  return (
    <Radio
      value={id}
      disabled={obstacle !== null}
      label={
        <Group gap={6}>
          <bdi>{name}</bdi>
          {obstacle === null ? null : (
            <Badge size="sm" variant="light" color="gray">
              {obstacle}
            </Badge>
          )}
        </Group>
      }
      description={note === '' ? undefined : <bdi>{note}</bdi>}
    />
  );
}

function useTargets(
  chat: Conversation,
  kind: Kind,
): { targets: readonly Target[]; isPending: boolean; error: unknown } {
  const { operator, sites } = useMe();
  const { site_id: siteId, media } = chat.engagement;
  const colleagues = useAvailableColleagues([siteId], kind === 'request');
  const query = { site_ids: sites.map(({ id }) => id) };
  const queues = useRead('GET /queues', { query }, { enabled: kind === 'ticket' });
  if (kind === 'request') {
    const others = (colleagues.data?.data.colleagues ?? []).filter(({ id }) => id !== operator.id);
    const targets = others.map(({ id, name, teams, media: accepted }) => ({
      id,
      name,
      note: teams.map((team) => team.name).join(', '),
      obstacle: accepted.includes(media) ? null : texts.doesNotAccept(media),
    }));
    return { targets, isPending: colleagues.isPending, error: colleagues.error };
  }
  const siteNames = new Map(sites.map(({ id, name }) => [id, name]));
  const targets = (queues.data?.data.queues ?? []).map(({ id, name, status, site_id }) => ({
    id,
    name,
    note: sites.length > 1 ? (siteNames.get(site_id) ?? '') : '',
    obstacle: status === 'opened' ? null : statusNames[status],
  }));
  return { targets, isPending: queues.isPending, error: queues.error };
}

function useTransfer(chat: Conversation, close: () => void) {
  const { api } = useSession();
  const desk = useDesk();
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const transfer = async (kind: Kind, to: string, text: string): Promise<void> => {
    setSending(true);
    const common = { engagement_id: chat.id, message: text === '' ? null : text };
    try {
      const { id } =
        kind === 'request'
          ? await api.call('POST /transfer_requests', { body: { ...common, operator_id: to } })
          : await api.call('POST /transfer_tickets', {
              body: { ...common, queue_id: to, media: chat.engagement.media },
            });
      desk.apply({ type: 'transfer', id: chat.id, transfer: { kind, id, to } });
      close();
    } catch (error) {
      setProblem(error);
      setSending(false);
    }
  };
  return { transfer, isSending, problem };
}
