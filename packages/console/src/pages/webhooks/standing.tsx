import { Badge, Group, Text, Tooltip } from '@mantine/core';
import type { Webhook } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import { states, whyDisabled, type DeliveryState } from './words.ts';
import { When } from './when.tsx';

/** Whether a webhook is on, and if not, why. */
export function Standing({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const { enabled, disabled_at: disabledAt, failing_since: failingSince } = webhook;
  if (!enabled)
    return (
      <Group gap={6}>
        <Badge color="gray" variant="light">
          Off
        </Badge>
        <Text size="sm" span>
          {whyDisabled(webhook)}
          {disabledAt === null ? null : (
            <>
              {' '}
              since <When at={disabledAt} />
            </>
          )}
        </Text>
      </Group>
    );
  if (failingSince === null)
    return (
      <Badge color="green" variant="light">
        On
      </Badge>
    );
  return (
    <Group gap={6}>
      <Badge color="red" variant="light">
        Failing
      </Badge>
      <Text size="sm" span>
        nothing has arrived since <When at={failingSince} />
      </Text>
    </Group>
  );
}

export function StateBadge({ state }: { readonly state: DeliveryState }): ReactElement {
  const { label, color, meaning } = states[state];
  return (
    <Tooltip label={meaning} multiline maw={260} events={{ hover: true, focus: true, touch: true }}>
      <Badge color={color} variant="light" tt="none">
        {label}
      </Badge>
    </Tooltip>
  );
}
