import type { QueueStatus } from '@usher/contract/states';
import type { SubjectEvent } from '../../events/append.ts';
import { newId } from '../../platform/ids.ts';
import type { Board } from '../board/board.ts';
import { fallbacksOf, fullStatus } from '../board/rules/admission.ts';
import type { Changes } from '../board/structures/changes.ts';
import { mediaList } from '../board/structures/media.ts';
import type { Operator, Queue } from '../board/structures/state.ts';
import type { Concerned } from './concerned.ts';

/** A queue or operator whose state is reported: an event says how it changed since it was reported last. */
export interface Subject {
  readonly kind: 'queue' | 'operator';
  readonly id: string;
  /** One text for everything that is reported, so that it can be stored and compared. */
  readonly state: string;
  readonly eventSince: (before: string, changes: Changes) => SubjectEvent;
}

/** What was last reported of each subject, by id, and what a turn may change of that. */
export interface ReportedStates {
  readonly states: Map<string, string>;
  readonly concerned: Concerned;
}

export interface StateReport {
  readonly events: readonly SubjectEvent[];
  /** What to store. */
  readonly states: readonly Pick<Subject, 'kind' | 'id' | 'state'>[];
  /** Ids of deleted queues and operators. */
  readonly gone: readonly string[];
}

export function queueSubject(board: Board, queue: Queue): Subject {
  const { id, siteId } = queue.settings;
  const self = fullStatus(queue);
  // D1.4: a queue is opened if it or one of its fallbacks is.
  const isOpened = self === 'opened' || fallbacksOf(board, queue).some((fallback) => fullStatus(fallback) === 'opened');
  const status: QueueStatus = isOpened ? 'opened' : self;
  return {
    kind: 'queue',
    id,
    state: `${status} ${self}`,
    eventSince(before) {
      const [previous, previousSelf] = before.split(' ') as [QueueStatus, QueueStatus];
      const fields = {
        id,
        site_id: siteId,
        status,
        self_status: self,
        previous_status: previous,
        previous_self_status: previousSelf,
        reason: reasonOf(previousSelf, self),
      };
      return {
        type: 'queue.status',
        fields: { queue: fields },
        id: newId<string>(),
        about: { siteId },
        subject: id,
        siteIds: [siteId],
      };
    },
  };
}

/** D1.2: of the obstacles hours, staff and capacity the first one counts, so this one began or ended. */
function reasonOf(before: QueueStatus, after: QueueStatus): 'hours' | 'staff' | 'capacity' | 'fallback' {
  if (before === after) return 'fallback';
  if (before === 'closed' || after === 'closed') return 'hours';
  return before === 'unstaffed' || after === 'unstaffed' ? 'staff' : 'capacity';
}

export function operatorSubject({ settings, present }: Operator): Subject {
  const { id, sites } = settings;
  const media = present ? mediaList(settings.media) : [];
  return {
    kind: 'operator',
    id,
    state: present ? `available ${media.join()}` : 'unavailable',
    eventSince(_, { presences }) {
      const siteIds = [...sites.keys()];
      const reason = presences.get(id)?.reason ?? null;
      return {
        type: 'operator.presence',
        fields: { operator: { id, available: present, media, because: causeOf({ settings, present }), reason } },
        id: newId<string>(),
        // An operator of several sites belongs to none of them alone.
        about: { siteId: siteIds.length === 1 ? (siteIds[0] ?? null) : null, operatorId: id },
        subject: id,
        siteIds,
      };
    },
  };
}

function causeOf({ settings, present }: Pick<Operator, 'settings' | 'present'>): 'set' | 'expired' | 'disabled' {
  if (!settings.enabled) return 'disabled';
  return settings.available && !present ? 'expired' : 'set';
}
