import { Button, Checkbox, Group, Popover, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ChevronDownIcon } from '@radix-ui/react-icons';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { inWords } from '../../components/in-words.ts';
import { media, mediumWords, type Medium } from '../../components/medium.ts';
import { keyOf, useChange } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { leaseSeconds } from '../../live/lease.ts';

const missed = 'missed_call';

/** Whether one takes visitors, and by which media. */
export function Availability(): ReactElement {
  const { operator } = useMe();
  const { say, isSaying } = usePresence();
  const taken = media.filter((medium) => operator.media.includes(medium));
  return (
    <Group gap="sm" wrap="nowrap">
      <Switch
        checked={operator.available}
        disabled={isSaying}
        onChange={({ currentTarget }) => say({ available: currentTarget.checked })}
        label={operator.available ? 'Available' : awayInWords(operator.presence_reason)}
        aria-label="Available"
        labelPosition="right"
        size="md"
        withThumbIndicator={false}
      />
      <Popover position="bottom-end" withArrow trapFocus shadow="md">
        <Popover.Target>
          <Button variant="default" size="xs" rightSection={<ChevronDownIcon aria-hidden />}>
            {taken.length === media.length ? 'All media' : taken.map((medium) => mediumWords[medium]).join(', ')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="sm" w={240}>
            <Checkbox.Group
              label="I take"
              value={[...taken]}
              onChange={(value) => {
                if (value.length > 0) say({ media: value });
              }}
            >
              <Stack gap={6} mt={6}>
                {media.map((medium) => (
                  <Checkbox
                    key={medium}
                    value={medium}
                    label={mediumWords[medium]}
                    disabled={taken.length === 1 && taken[0] === medium}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
            <AwayReason goAway={(reason) => say({ available: false, reason })} />
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}

function awayInWords(reason: string | null): ReactElement {
  if (reason === missed) return <>Away: you missed an offer</>;
  return (
    <Text span inherit lineClamp={1} title={reason ?? undefined}>
      Away{reason === null ? '' : `: ${reason}`}
    </Text>
  );
}

function AwayReason({ goAway }: { readonly goAway: (reason: string | null) => void }): ReactElement {
  const [reason, setReason] = useState('');
  const submit = (event: Pick<Event, 'preventDefault'>): void => {
    event.preventDefault();
    goAway(reason.trim() === '' ? null : reason.trim());
    setReason('');
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="end" wrap="nowrap">
        <TextInput
          label="Go away for"
          placeholder="Lunch, say"
          maxLength={255}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          flex={1}
          size="xs"
        />
        <Button type="submit" size="xs" variant="default">
          Away
        </Button>
      </Group>
    </form>
  );
}

interface Presence {
  readonly available?: boolean;
  readonly media?: readonly Medium[];
  readonly reason?: string | null;
}

/**
 * What is not said stays as it is. Available lasts for as long as a page is open. Away lasts until one comes back; its lease says
 * how long one was still there.
 */
function usePresence(): { say: (presence: Presence) => void; isSaying: boolean } {
  const { operator } = useMe();
  const client = useQueryClient();
  const change = useChange('PUT /operators/{operator_id}/presence', {
    onDone: (answered) =>
      client.setQueryData(keyOf('GET /operators/{operator_id}', { path: { operator_id: operator.id } }), answered),
  });
  const say = ({ available = operator.available, media: wanted, reason = null }: Presence): void =>
    change.mutate(
      {
        path: { operator_id: operator.id },
        body: {
          available,
          media: wanted ?? operator.media,
          expires_in_sec: leaseSeconds,
          reason: available ? null : reason,
        },
      },
      { onError: (error) => notifications.show({ color: 'red', title: 'Not changed', message: inWords(error) }) },
    );
  return { say, isSaying: change.isPending };
}
