import type { Visitor } from '@usher/sdk/api-types';
import { texts } from './texts.ts';

type VisitorContact = Partial<Pick<Visitor, 'name' | 'email' | 'phone'>>;

/** The label of a visitor on every page: name, else e-mail or phone. Other visitors are identified by the end of their id. */
export function visitorName(visitor: VisitorContact | null | undefined, id: string): string {
  const label = [visitor?.name, visitor?.email, visitor?.phone].find((each) => typeof each === 'string' && each !== '');
  return label ?? texts.anonymousVisitor(id.slice(-4));
}
