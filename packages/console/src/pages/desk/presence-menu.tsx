import { Button, Checkbox, Group, Popover, Stack, TextInput } from '@mantine/core';
import { ChevronDownIcon } from '@radix-ui/react-icons';
import { maxPresenceReasonLength } from '@usher/contract/limits';
import { media } from '@usher/contract/media';
import { useState, type ReactElement } from 'react';
import { mediumName } from '../../components/medium.ts';
import { useMe } from '../../data/use-me.ts';
import { usePresence } from '../../data/use-presence.ts';
import { texts } from './texts.ts';

/** The accepted media, and going away with a reason. The availability switch is in the header. */
export function PresenceMenu(): ReactElement {
  const { operator } = useMe();
  const { setPresence } = usePresence();
  const accepted = media.filter((medium) => operator.media.includes(medium));
  return (
    <Popover position="bottom-end" withArrow trapFocus shadow="md">
      <Popover.Target>
        <Button variant="default" size="xs" rightSection={<ChevronDownIcon aria-hidden />}>
          {accepted.length === media.length ? texts.allMedia : accepted.map((medium) => mediumName(medium)).join(', ')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm" w={240}>
          <Checkbox.Group
            label={texts.accept}
            value={[...accepted]}
            onChange={(value) => {
              if (value.length > 0) setPresence({ media: value });
            }}
          >
            <Stack gap={6} mt={6}>
              {media.map((medium) => (
                <Checkbox
                  key={medium}
                  value={medium}
                  label={mediumName(medium)}
                  disabled={accepted.length === 1 && accepted[0] === medium}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <AwayReason goAway={(reason) => setPresence({ available: false, reason })} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
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
          label={texts.awayReason}
          placeholder={texts.awayReasonExample}
          maxLength={maxPresenceReasonLength}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          flex={1}
          size="xs"
        />
        <Button type="submit" size="xs" variant="default">
          {texts.away}
        </Button>
      </Group>
    </form>
  );
}
