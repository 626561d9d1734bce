import { Badge, Group, Text, Tooltip } from '@mantine/core';
import type { Webhook } from '@usher/sdk/api-types';
import type { ReactElement, ReactNode } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { useNow } from '../../../components/time/elapsed-time.tsx';
import { texts } from '../texts.ts';
import { healthOf } from './health.ts';
import { useStats } from './use-stats.ts';
import { states, disabledReason, type DeliveryState } from '../labels.ts';

const daySec = 86_400;

/** The health of a webhook, with reason and start. */
export function WebhookStatus({ webhook }: { readonly webhook: Webhook }): ReactElement {
  // The same read as in the summary of the last day, so that both agree.
  const waiting = useStats(webhook.id, daySec * 1_000, daySec).data?.data.waiting;
  const health = healthOf(webhook, waiting, useNow());
  const { disabled_at: disabledAt, failing_since: failingSince } = webhook;
  switch (health) {
    case 'off':
      return (
        <Status label={texts.disabled} color="gray">
          {disabledAt === null ? (
            disabledReason(webhook)
          ) : (
            <RichText
              text={texts.reasonSince}
              values={{ reason: disabledReason(webhook), time: <Timestamp format="recent" at={disabledAt} /> }}
            />
          )}
        </Status>
      );
    case 'failing':
      return (
        <Status label={texts.failing} color="red">
          {failingSince === null ? null : (
            <RichText text={texts.sinceTime} values={{ time: <Timestamp format="recent" at={failingSince} /> }} />
          )}
        </Status>
      );
    case 'retrying':
      return (
        <Status label={texts.retrying} color="yellow">
          {texts.deliveryCount(Math.max(1, waiting?.retrying ?? 0))}
        </Status>
      );
    case 'on':
      return <Status label={texts.enabled} color="green" />;
  }
}

interface StatusProps {
  readonly label: string;
  readonly color: string;
  readonly children?: ReactNode;
}

function Status({ label, color, children }: StatusProps): ReactElement {
  return (
    <Group gap={6} role="group" aria-label={texts.status}>
      <Badge color={color} variant="light">
        {label}
      </Badge>
      {children === undefined ? null : (
        <Text size="sm" span>
          {children}
        </Text>
      )}
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
