import type { EventType } from '@usher/sdk/api-types';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from '../../../data/use-api.ts';

interface EventTypes {
  readonly read: UseQueryResult;
  readonly all: readonly EventType[];
  /** The event types whose name or description contains every word. */
  readonly matching: (search: string) => readonly EventType[];
}

export function useEventTypes(): EventTypes {
  const read = useRead('GET /event_types', {});
  const all = read.data?.data.event_types ?? [];
  return {
    read,
    all,
    matching: (search) => {
      const searchWords = search.toLowerCase().split(/\s+/);
      return all.filter(({ event_type: name, description }) => {
        const text = `${name} ${description}`.toLowerCase();
        return searchWords.every((word) => text.includes(word));
      });
    },
  };
}
