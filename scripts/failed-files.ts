import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A reporter for Node's test runner that writes the files in which a test failed, one in a line. */
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed = new Set<string>();
  for await (const event of events)
    // A file that could not be loaded, or ended with an error, fails as a test that is named after it.
    if (event.type === 'test:fail') failed.add(relative('', event.data.file ?? event.data.name));
  for (const file of failed) yield `${file}\n`;
}
