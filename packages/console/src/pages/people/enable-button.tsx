import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Operator } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { describeError } from '../../components/describe-error.ts';
import { useChange } from '../../data/use-api.ts';
import { texts } from './texts.ts';

interface Props {
  readonly person: Operator;
  readonly etag: string | null;
}

const refresh = ['GET /operators', 'GET /operators/{operator_id}'] as const;

/** Operators are never deleted, so that their history keeps their name. They are disabled and can be enabled again. */
export function EnableButton({ person, etag }: Props): ReactElement {
  const change = useChange('PATCH /operators/{operator_id}', { refresh });
  const path = { operator_id: person.id };
  if (!person.enabled)
    return (
      <Button
        loading={change.isPending}
        onClick={() =>
          change.mutate(
            { path, body: { enabled: true }, ifMatch: etag },
            { onError: (error) => notifications.show({ color: 'red', message: describeError(error) }) },
          )
        }
      >
        {texts.enable}
      </Button>
    );
  return (
    <ConfirmButton
      label={texts.disable}
      question={texts.confirmDisable}
      busy={change.isPending}
      error={change.error}
      onClose={() => change.reset()}
      onConfirm={(done) => change.mutate({ path, body: { enabled: false } }, { onSuccess: done })}
    >
      <Text className="user-text">{person.name}</Text>
      <Text size="sm">{texts.disableHelp}</Text>
    </ConfirmButton>
  );
}
