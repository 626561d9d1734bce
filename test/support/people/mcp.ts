import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Json } from '../server.ts';

/** The revision of the protocol without a handshake. */
export const modernRevision = '2026-07-28';

interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Json;
}

/** Connects the official client to `/mcp` of a server: with the handshake of older revisions, or without. */
export async function connectMcp(
  { url }: { readonly url: string },
  token: string,
  revision: 'legacy' | 'modern' = 'legacy',
): Promise<Client> {
  const mode = revision === 'legacy' ? 'legacy' : { pin: modernRevision };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

export async function callTool(client: Client, name: string, input: Json = {}): Promise<ToolAnswer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
  const [first] = content;
  assert.equal(first?.type, 'text');
  return { isError: isError === true, text: first.text, data: structuredContent };
}

/** Calls a tool that must succeed. */
export async function useTool(client: Client, name: string, input: Json = {}): Promise<ToolAnswer> {
  const answer = await callTool(client, name, input);
  assert.equal(answer.isError, false, answer.text);
  return answer;
}

/** Calls a tool that must fail. Returns its error. */
export async function failTool(client: Client, name: string, input: Json = {}): Promise<string> {
  const answer = await callTool(client, name, input);
  assert.equal(answer.isError, true, answer.text);
  return answer.text;
}
