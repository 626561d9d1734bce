import { ToolError, type CallApi } from '../../mcp/tool-api.ts';
import { StartError } from '../../platform/errors.ts';
import { Api } from './api.ts';
import { command } from '../command.ts';
import { connectionOf, serverOptions } from '../options.ts';

const { json: _json, ...options } = serverOptions;

export const mcp = command({
  help: `usher mcp [--url <url>] …

  Serves tools for AI assistants over MCP (Model Context Protocol) on standard input and output, until its input ends. An assistant
  starts it itself: docs/guide/mcp.md shows the configuration. The tools have the rights of the API key.

  --url <url>           URL of the server; default: that of the profile, or from HOST and PORT
  --key-id, --key-secret   API key; default: USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or the profile (usher login)
`,
  options,
  async run(config, flags) {
    const connection = connectionOf(config, flags);
    const ended = new AbortController();
    const api = new Api(connection, ended.signal);
    // Loaded here, so that the list of commands does not load the protocol.
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const { createMcpServer } = await import('../../mcp/create-server.ts');
    // Standard output belongs to the protocol.
    const say = (line: string): unknown => process.stderr.write(`usher: ${line}\n`);
    const onError = (error: unknown): void => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    };
    const server = serveStdio(() => createMcpServer({ callApi: callServer(api), onError }), { onerror: onError });
    const end = inputEnd();
    say(`MCP tools for ${connection.url} on standard input and output.`);
    await end;
    ended.abort();
    await server.close();
  },
});

/** An unreachable server, or a key that it does not know, is the answer of the tool. */
function callServer(api: Api): CallApi {
  return async (request) => {
    try {
      return await api.answer(request);
    } catch (error) {
      if (error instanceof StartError) throw new ToolError(error.message, { code: 'unreachable' });
      throw error;
    }
  };
}

/** The client ends the server by closing its input or with a signal. */
async function inputEnd(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    process.stdin.once('end', end).once('close', end).once('error', end);
    process.stdout.once('error', end);
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  });
}
