import type { Medium } from '@usher/contract/media';
import type { EventFields, EventType } from '../../../events/catalogue.ts';
import type { SiteId, SubEngagementId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import type { About } from './changes.ts';
import type { Engagement, Operator } from './state.ts';

/** Builds the fields of an event. It must read nothing that a later command of the turn can change. */
export type FieldsOf<Type extends EventType, Subject> = (event: EngagementEvent<Type, Subject>) => EventFields<Type>;

/**
 * An event about an engagement. Its id and its fields are built when the turn is written: until then the event is one small
 * object, and not the dozen that its payload consists of. A later command of the same turn may transfer the engagement or change
 * its medium, so the event keeps how these were when it happened.
 */
export class EngagementEvent<Type extends EventType, Subject> {
  readonly type: Type;
  readonly at: number;
  readonly engagement: Engagement;
  /** What the event is about besides the engagement, such as the accepted request. */
  readonly subject: Subject;
  readonly operator: Operator;
  readonly siteId: SiteId;
  readonly subEngagementId: SubEngagementId;
  readonly medium: Medium;
  readonly #subscribers: readonly string[];
  readonly #fieldsOf: FieldsOf<Type, Subject>;
  readonly #newId: () => string;
  #id: string | null = null;

  constructor(
    { now, newId }: Board,
    type: Type,
    engagement: Engagement,
    { subject, fieldsOf }: { readonly subject: Subject; readonly fieldsOf: FieldsOf<Type, Subject> },
  ) {
    this.type = type;
    this.at = now;
    this.engagement = engagement;
    this.subject = subject;
    this.operator = engagement.operator;
    this.siteId = engagement.siteId;
    this.subEngagementId = engagement.subEngagementId;
    this.medium = engagement.medium;
    this.#subscribers = engagement.subscribers;
    this.#fieldsOf = fieldsOf;
    this.#newId = newId;
  }

  get id(): string {
    return (this.#id ??= this.#newId());
  }

  get about(): About {
    const { id, requestId, ticketId, visitor } = this.engagement;
    return {
      siteId: this.siteId,
      ticketId,
      requestId,
      engagementId: id,
      visitorId: visitor.id,
      operatorId: this.operator.settings.id,
      subscribers: this.#subscribers,
    };
  }

  get fields(): EventFields<Type> {
    return this.#fieldsOf(this);
  }

  /** The sub-engagement as payloads show it. */
  get subEngagement() {
    return { id: this.subEngagementId, operator_id: this.operator.settings.id, site_id: this.siteId };
  }
}
