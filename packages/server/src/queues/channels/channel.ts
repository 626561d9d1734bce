import Type from 'typebox';
import type { AccountId, Id, QueueId, SiteId } from '../../platform/ids.ts';
import { body, output, timestamp, update, uuid } from '../../platform/schema.ts';

export type ChannelId = Id<'channel'>;
/** The two kinds of channels differ only in their address fields. */
export type ChannelKind = 'phone' | 'digital';

const number = Type.String({ pattern: String.raw`^\+[1-9]\d{1,14}$`, description: 'E.164, such as +3725551234' });
const kind = Type.String({ minLength: 1, maxLength: 64, description: 'Such as sms, whatsapp or apple_business_chat' });
const address = Type.String({ minLength: 1, maxLength: 255 });

const addressFields = { phone: { number }, digital: { kind, address } } as const;
const readOnly = ['id', 'created_at', 'updated_at'];

export const channelInput = {
  phone: body({ site_id: uuid<'site'>(), ...addressFields.phone, queue_id: uuid<'queue'>() }),
  digital: body({ site_id: uuid<'site'>(), ...addressFields.digital, queue_id: uuid<'queue'>() }),
};
export const channelUpdate = {
  phone: update({ ...addressFields.phone, queue_id: uuid<'queue'>(), site_id: uuid<'site'>() }, readOnly),
  digital: update({ ...addressFields.digital, queue_id: uuid<'queue'>(), site_id: uuid<'site'>() }, readOnly),
};

const rest = { queue_id: uuid<'queue'>(), created_at: timestamp, updated_at: timestamp };
const start = { id: uuid<'channel'>(), site_id: uuid<'site'>() };
export const channelOutput = {
  phone: output('PhoneChannel', { ...start, ...addressFields.phone, ...rest }),
  digital: output('DigitalChannel', { ...start, ...addressFields.digital, ...rest }),
};

/** The address columns of each kind. */
export const addressColumns = { phone: ['number'], digital: ['kind', 'address'] } as const;

export interface ChannelRow {
  readonly id: ChannelId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly queue_id: QueueId;
  readonly number: string;
  readonly kind: string;
  readonly address: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type ChannelFields = Partial<Pick<ChannelRow, 'queue_id' | 'number' | 'kind' | 'address'>>;
