import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Webhook } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { describeError } from '../../../components/describe-error.ts';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { bodyOf, fieldsOf } from './fields.ts';

/** Enables or disables a webhook and keeps concurrent changes of other fields. */
export function SwitchButton({
  webhook,
  etag,
}: {
  readonly webhook: Webhook;
  readonly etag: string | null;
}): ReactElement {
  const change = useChange('PUT /webhooks/{webhook_id}', {
    refresh: ['GET /webhooks/{webhook_id}', 'GET /webhooks', 'GET /webhooks/{webhook_id}/deliveries'],
  });
  const { id, enabled } = webhook;
  return (
    <Button
      variant="default"
      loading={change.isPending}
      onClick={() =>
        change.mutate(
          { path: { webhook_id: id }, body: bodyOf({ ...fieldsOf(webhook), enabled: !enabled }), ifMatch: etag },
          { onError: (error) => notifications.show({ color: 'red', message: describeError(error) }) },
        )
      }
    >
      {enabled ? texts.disable : texts.enable}
    </Button>
  );
}
