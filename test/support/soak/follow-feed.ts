import type { Json } from '../server.ts';

interface FollowOptions {
  readonly token: string;
  /** The id of the last item that was read, or an empty string. */
  readonly lastId: string;
  readonly signal: AbortSignal;
  readonly onItem: (type: string, data: Json) => void;
}

/** Follows a feed that holds the presence of its reader, and keeps nothing of it. Returns the id of the last item. */
export async function followFeed(server: { readonly url: string }, options: FollowOptions): Promise<string> {
  let { lastId } = options;
  const headers = {
    authorization: `Bearer ${options.token}`,
    ...(lastId === '' ? {} : { 'last-event-id': lastId }),
  };
  try {
    const response = await fetch(`${server.url}/feed?hold_presence=true`, { headers, signal: options.signal });
    if (!response.ok) throw new Error(`the feed was refused: ${response.status} ${await response.text()}`);
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
        );
        lastId = fields['id'] ?? lastId;
        if (fields['data'] !== undefined) options.onItem(fields['event'] ?? '', JSON.parse(fields['data']));
      }
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
  return lastId;
}
