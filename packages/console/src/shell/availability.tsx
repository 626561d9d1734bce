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
  const label = operator.available ? texts.available : describeAway(operator.presence_reason);
  return (
    <Switch
      checked={operator.available}
      disabled={isSaving}
      onChange={({ currentTarget }) => setPresence({ available: currentTarget.checked })}
      label={label}
      aria-label={texts.available}
      title={label}
      labelPosition="right"
      size="md"
      withThumbIndicator={false}
      classNames={{ input: classes['input'] ?? '', labelWrapper: classes['label'] ?? '' }}
    />
  );
}

function describeAway(reason: string | null): string {
  if (reason === missed) return texts.awayMissedOffer;
  return reason === null ? texts.away : texts.awayWithReason(reason);
}
