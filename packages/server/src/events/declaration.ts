import type Type from 'typebox';

export interface Declaration<Fields extends Type.TProperties> extends EventTraits {
  /** The name of the schema in openapi.json. */
  readonly title: string;
  /** When the event happens, in one line. */
  readonly trigger: string;
  /** The fields beside those that every event has. */
  readonly fields: Fields;
  /** An example: `GET /event_types` shows it, and a test of a webhook sends it. */
  readonly sample: Type.Static<Type.TObject<Fields>>;
}

export interface EventTraits {
  /** The live feed shows the event to operators only. */
  readonly hiddenFromVisitors?: true;
  /** D8.11: a receiver that fails is not retried for days, because the event is soon out of date. */
  readonly shortLived?: true;
  /** Some fields are empty in the log, and filled in for the visitor and for webhooks (`event-secrets.ts`). */
  readonly hasSecrets?: true;
  /**
   * The event is made only while a registered webhook of the account subscribes its type. The live feed does not show it: the feed
   * has states of the same resources.
   */
  readonly onDemand?: true;
}

/** Declares an event type: checks the sample against the fields. */
export function event<Fields extends Type.TProperties>(declaration: Declaration<Fields>): Declaration<Fields> {
  return declaration;
}
