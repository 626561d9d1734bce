import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import type { Medium } from '@usher/contract/media';
import { texts } from '../components/texts.ts';
import { describeError } from '../components/describe-error.ts';
import { leaseSeconds } from '../live/lease.ts';
import { keyOf, useChange } from './use-api.ts';
import { useMe } from './use-me.ts';

interface Presence {
  readonly available?: boolean;
  readonly media?: readonly Medium[];
  readonly reason?: string | null;
}

/**
 * Sets the operator's own presence; omitted fields keep their value. "Available" lasts while a page is open. "Away" lasts until
 * the operator comes back; its lease records until when a page was open.
 */
export function usePresence(): { setPresence: (presence: Presence) => void; isSaving: boolean } {
  const { operator } = useMe();
  const client = useQueryClient();
  const change = useChange('PUT /operators/{operator_id}/presence', {
    onDone: (answered) =>
      client.setQueryData(keyOf('GET /operators/{operator_id}', { path: { operator_id: operator.id } }), answered),
  });
  const setPresence = ({ available = operator.available, media, reason = null }: Presence): void =>
    change.mutate(
      {
        path: { operator_id: operator.id },
        body: {
          available,
          media: media ?? operator.media,
          expires_in_sec: leaseSeconds,
          reason: available ? null : reason,
        },
      },
      { onError: (error) => notifications.show({ color: 'red', title: texts.couldNotChangeAvailability, message: describeError(error) }) },
    );
  return { setPresence, isSaving: change.isPending };
}
