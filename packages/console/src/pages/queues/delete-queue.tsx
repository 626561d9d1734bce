import { Alert } from '@mantine/core';
import { UsherError } from '@usher/sdk/errors';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { DeleteButton } from '../../components/editing/delete-button.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { texts } from './texts.ts';
import { useQueues, type Queue } from './use-queues.ts';

export function DeleteQueue({ queue }: { readonly queue: Queue }): ReactElement {
  const [, navigate] = useLocation();
  const queues = useQueues().data?.data.queues ?? [];
  const removal = useChange('DELETE /queues/{queue_id}', {
    refresh: ['GET /queues'],
    onDone: () => navigate('/queues', { replace: true }),
  });
  const inUse = removal.error instanceof UsherError && removal.error.code === 'queue_in_use' ? removal.error : null;
  const withQueueNames = (text: string): string =>
    queues.reduce((replaced, { id, name }) => replaced.replaceAll(id, `“${name}”`), text);
  return (
    <DeleteButton
      what="queue"
      name={queue.name}
      deleting={removal.isPending}
      onDelete={() => removal.mutate({ path: { queue_id: queue.id } })}
      onClose={() => removal.reset()}
      refusal={
        inUse === null ? (
          <ProblemNote error={removal.error} title={texts.couldNotDeleteQueue} />
        ) : (
          <Alert color="red" role="alert" title={texts.queueInUse}>
            <ul>
              {inUse.details.map(({ detail }) => (
                <li key={detail} className="user-text">
                  {texts.queueIs(withQueueNames(detail))}
                </li>
              ))}
            </ul>
            {texts.removeReferencesFirst}
          </Alert>
        )
      }
    />
  );
}
