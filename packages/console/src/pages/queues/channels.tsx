import { ActionIcon, Button, Fieldset, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { maxPageSize } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';
import type { Queue } from './use-queues.ts';

/** The phone numbers and messaging addresses of the queue. */
export function Channels({ queue }: { readonly queue: Queue }): ReactElement {
  const query = { site_ids: [queue.site_id], per_page: maxPageSize };
  const phones = useRead('GET /phone_channels', { query });
  const digital = useRead('GET /digital_channels', { query });
  const dropPhone = useChange('DELETE /phone_channels/{channel_id}', { refresh: ['GET /phone_channels'] });
  const dropDigital = useChange('DELETE /digital_channels/{channel_id}', { refresh: ['GET /digital_channels'] });
  const isOfQueue = ({ queue_id }: { readonly queue_id: string }): boolean => queue_id === queue.id;
  const rows = [
    ...(phones.data?.data.phone_channels ?? []).filter(isOfQueue).map(({ id, number }) => ({
      id,
      kind: texts.phone,
      address: number,
      remove: () => dropPhone.mutate({ path: { channel_id: id } }),
    })),
    ...(digital.data?.data.digital_channels ?? []).filter(isOfQueue).map(({ id, kind, address }) => ({
      id,
      kind,
      address,
      remove: () => dropDigital.mutate({ path: { channel_id: id } }),
    })),
  ];
  const error = phones.error ?? digital.error ?? dropPhone.error ?? dropDigital.error;
  return (
    <Stack maw={640}>
      <ProblemNote error={error} />
      {rows.length === 0 ? (
        <Text size="sm">{texts.noChannels}</Text>
      ) : (
        <Table verticalSpacing={6} aria-label={texts.channels}>
          <Table.Tbody>
            {rows.map(({ id, kind, address, remove }) => (
              <Table.Tr key={id}>
                <Table.Td w={160}>
                  <bdi>{kind}</bdi>
                </Table.Td>
                <Table.Td className="user-text tabular">{address}</Table.Td>
                <Table.Td ta="right" w={60}>
                  <ActionIcon variant="default" aria-label={texts.remove(address)} onClick={remove}>
                    <Cross2Icon />
                  </ActionIcon>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <AddPhone queue={queue} />
      <AddDigital queue={queue} />
    </Stack>
  );
}

function AddPhone({ queue }: { readonly queue: Queue }): ReactElement {
  const [number, setNumber] = useState('');
  const add = useChange('POST /phone_channels', { refresh: ['GET /phone_channels'], onDone: () => setNumber('') });
  const fault = faultsOf(add.error);
  return (
    <Fieldset legend={texts.addPhoneNumber}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate({ body: { site_id: queue.site_id, queue_id: queue.id, number } });
        }}
      >
        <Group align="flex-start">
          <TextInput
            label={texts.number}
            placeholder="+3725551234"
            flex={1}
            value={number}
            error={fault('/number')}
            onChange={(event) => setNumber(event.currentTarget.value)}
          />
          <Button type="submit" mt={25} loading={add.isPending} disabled={number === ''}>
            {texts.addNumber}
          </Button>
        </Group>
        {hasOnlyFieldErrors(add.error) ? null : <ProblemNote error={add.error} />}
      </form>
    </Fieldset>
  );
}

const emptyInput = { kind: '', address: '' };

function AddDigital({ queue }: { readonly queue: Queue }): ReactElement {
  const [input, setInput] = useState(emptyInput);
  const add = useChange('POST /digital_channels', {
    refresh: ['GET /digital_channels'],
    onDone: () => setInput(emptyInput),
  });
  const fault = faultsOf(add.error);
  return (
    <Fieldset legend={texts.addMessagingChannel}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate({ body: { site_id: queue.site_id, queue_id: queue.id, ...input } });
        }}
      >
        <Group align="flex-start">
          <TextInput
            label={texts.type}
            placeholder={texts.channelTypeExample}
            value={input.kind}
            error={fault('/kind')}
            onChange={(event) => setInput({ ...input, kind: event.currentTarget.value })}
          />
          <TextInput
            label={texts.address}
            flex={1}
            value={input.address}
            error={fault('/address')}
            onChange={(event) => setInput({ ...input, address: event.currentTarget.value })}
          />
          <Button type="submit" mt={25} loading={add.isPending} disabled={input.kind === '' || input.address === ''}>
            {texts.addChannel}
          </Button>
        </Group>
        {hasOnlyFieldErrors(add.error) ? null : <ProblemNote error={add.error} />}
      </form>
    </Fieldset>
  );
}
