import { lazy, type ComponentType } from 'react';
import { texts } from './texts.ts';

/** A part of the console did not come: the server was away, or is a newer one, which has it under another name. */
export class NotLoaded extends Error {
  constructor(cause: unknown) {
    super(texts.pageNotLoaded, { cause });
    this.name = 'NotLoaded';
  }
}

/**
 * Something that is loaded when it is first shown. Browsers remember that a module did not come, and do not ask again: what
 * failed once is to be had by loading the whole page again, and not before.
 */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      throw new NotLoaded(error);
    }
  });
}
