import { Switch } from '@mantine/core';
import type { ReactElement } from 'react';
import { useMe } from '../data/use-me.ts';
import { usePresence } from '../data/use-presence.ts';
import classes from './availability.module.css';
import { texts } from './texts.ts';

/** The reason that the server sets after a missed offer. */
const missed = 'missed_call';

/** The availability switch. It is in the header, so that it is one click away on every page. */
export function AvailabilitySwitch(): ReactElement {
  const { operator } = useMe();
  const { setPresence, isSaving } = usePresence();
  const words = operator.available ? texts.available : awayInWords(operator.presence_reason);
  return (
    <Switch
      checked={operator.available}
      disabled={isSaving}
      onChange={({ currentTarget }) => setPresence({ available: currentTarget.checked })}
      label={words}
      aria-label={texts.available}
      title={words}
      labelPosition="right"
      size="md"
      withThumbIndicator={false}
      classNames={{ input: classes['input'] ?? '', labelWrapper: classes['words'] ?? '' }}
    />
  );
}

function awayInWords(reason: string | null): string {
  if (reason === missed) return texts.awayMissedOffer;
  return reason === null ? texts.away : texts.awayWithReason(reason);
}
