import type { Visitor } from '@usher/client/api-types';
import { texts } from './texts.ts';

type Named = Partial<Pick<Visitor, 'name' | 'email' | 'phone'>>;

/** The label of a visitor on every page: name, else e-mail or phone. Other visitors are identified by the end of their id. */
export function visitorName(visitor: Named | null | undefined, id: string): string {
  const known = [visitor?.name, visitor?.email, visitor?.phone].find((each) => typeof each === 'string' && each !== '');
  return known ?? texts.anonymousVisitor(id.slice(-4));
}
