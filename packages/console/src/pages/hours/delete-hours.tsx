import { Alert, Anchor } from '@mantine/core';
import type { SchedulingPolicy } from '@usher/sdk/api-types';
import { UsherError } from '@usher/sdk/errors';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { DeleteButton } from '../../components/editing/delete-button.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { useQueues } from '../queues/use-queues.ts';
import { texts } from './texts.ts';

export function DeleteHours({ policy }: { readonly policy: SchedulingPolicy }): ReactElement {
  const [, navigate] = useLocation();
  const queues = new Map((useQueues().data?.data.queues ?? []).map(({ id, name }) => [id, name]));
  const removal = useChange('DELETE /queues/scheduling_policies/{scheduling_policy_id}', {
    refresh: ['GET /queues/scheduling_policies'],
    onDone: () => navigate('/hours', { replace: true }),
  });
  const inUse = removal.error instanceof UsherError && removal.error.code === 'policy_in_use' ? removal.error : null;
  const queueIds = inUse?.details.map(({ detail }) => detail.split(' ').at(-1) ?? '') ?? [];
  return (
    <DeleteButton
      what="hours"
      name={policy.name}
      deleting={removal.isPending}
      onDelete={() => removal.mutate({ path: { scheduling_policy_id: policy.id } })}
      onClose={() => removal.reset()}
      refusal={
        inUse === null ? (
          <ProblemNote error={removal.error} title={texts.couldNotDeleteHours} />
        ) : (
          <Alert color="red" role="alert" title={texts.theseHoursInUse}>
            <ul>
              {queueIds.map((id) => (
                <li key={id}>
                  <Anchor component={Link} href={`/queues/${id}`} className="user-text">
                    {queues.get(id) ?? id}
                  </Anchor>
                </li>
              ))}
            </ul>
            {texts.chooseOtherHoursFirst}
          </Alert>
        )
      }
    />
  );
}
