import type { Visitor } from '@usher/client/api-types';
import { texts } from './texts.ts';

type Named = Partial<Pick<Visitor, 'name' | 'email' | 'phone'>>;

/**
 * What a visitor is called on every page: by name, else by e-mail or phone. Visitors of whom nothing is known are told apart by
 * the end of their id.
 */
export function visitorName(visitor: Named | null | undefined, id: string): string {
  const known = [visitor?.name, visitor?.email, visitor?.phone].find((each) => typeof each === 'string' && each !== '');
  return known ?? texts.anonymousVisitor(id.slice(-4));
}
