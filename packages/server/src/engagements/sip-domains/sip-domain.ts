import { maxDomainLength } from '@usher/contract/limits';
import Type from 'typebox';
import type { AccountId, Id, SiteId } from '../../platform/ids.ts';
import { body, output, timestamp, uuid } from '../../platform/schema.ts';

export type SipDomainId = Id<'sip_domain'>;

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** A host name with at least two labels. The last label contains a letter, which excludes IPv4 addresses. */
const domain = Type.Unsafe<string>({
  type: 'string',
  maxLength: maxDomainLength,
  pattern: `^(?:${label}\\.)+(?=[^.]*[A-Za-z])${label}$`,
  lowercase: true,
  description: 'A host name, such as sip.example.com; an internationalised one in its ASCII form',
});

export const sipDomainInput = body({ site_id: uuid<'site'>(), domain });

export const sipDomainOutput = output('SipDomain', {
  id: uuid<'sip_domain'>(),
  site_id: uuid<'site'>(),
  domain: Type.String(),
  created_at: timestamp,
});

export interface SipDomainRow {
  readonly id: SipDomainId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly domain: string;
  readonly created_at: Date;
}
