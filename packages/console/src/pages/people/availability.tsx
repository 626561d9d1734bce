import { Badge } from '@mantine/core';
import type { Operator } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { texts } from './texts.ts';

/** The availability of an operator, as text and colour. */
export function Availability({ person }: { readonly person: Operator }): ReactElement {
  if (!person.enabled)
    return (
      <Badge variant="outline" color="gray" tt="none">
        {texts.disabled}
      </Badge>
    );
  return (
    <Badge
      variant="light"
      color={person.available ? 'green' : 'gray'}
      tt="none"
      title={person.presence_reason ?? undefined}
    >
      {person.available ? texts.availableFor(person.media.join(', ')) : texts.away}
    </Badge>
  );
}
