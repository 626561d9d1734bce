import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { version } from '../platform/version.ts';
import { listFailingDeliveries, replayDeliveries, replayDelivery } from './delivery-tools.ts';
import { getEngagement } from './engagement-tools.ts';
import { changeHours, getHours, previewHoursChange } from './hours-tools.ts';
import { getQueue, listQueues, listWaiting } from './queue-tools.ts';
import { untrustedNotice, type Tool } from './tool.ts';
import { ToolApi, ToolError, type CallApi } from './tool-api.ts';

const instructions = [
  'Usher routes visitors of websites to operators: queues with opening hours, engagements with transcripts, and webhooks.',
  'Tools whose description begins with CHANGES change something: ask the person first. Before change_hours, call preview_hours_change and show its result.',
  untrustedNotice,
].join(' ');

const tools: readonly Tool[] = [
  listQueues,
  getQueue,
  listWaiting,
  getEngagement,
  listFailingDeliveries,
  replayDelivery,
  replayDeliveries,
  getHours,
  previewHoursChange,
  changeHours,
];

/** A schema is compiled once, and used by the servers of all requests. */
const registered = tools.map((tool) => ({
  tool,
  config: {
    title: tool.title,
    description: tool.description,
    inputSchema: fromJsonSchema<object>(tool.input as Parameters<typeof fromJsonSchema>[0]),
    outputSchema: fromJsonSchema<object>(tool.output as Parameters<typeof fromJsonSchema>[0]),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.changes === null,
      destructiveHint: tool.changes?.isDestructive ?? false,
      idempotentHint: tool.changes?.isIdempotent ?? true,
      openWorldHint: tool.changes?.reachesOthers ?? false,
    },
  },
}));

interface ServerOptions {
  readonly callApi: CallApi;
  /** Called with errors that are bugs. The client gets no details of them. */
  readonly onError: (error: unknown) => void;
}

/** An MCP server for one caller, with all tools. */
export function createMcpServer({ callApi, onError }: ServerOptions): McpServer {
  const server = new McpServer(
    { name: 'usher', title: 'Usher', version },
    { capabilities: { tools: { listChanged: false } }, instructions },
  );
  const api = new ToolApi(callApi);
  for (const { tool, config } of registered)
    server.registerTool(tool.name, config, async (input) => {
      try {
        const { text, data } = await tool.run(api, input);
        return { content: [{ type: 'text', text }], structuredContent: { ...data } };
      } catch (error) {
        return failure(error, onError);
      }
    });
  return server;
}

function failure(error: unknown, onError: (error: unknown) => void) {
  const isExpected = error instanceof ToolError;
  if (!isExpected) onError(error);
  const message = isExpected ? error.message : 'An internal error occurred in the tool. The log of Usher has details.';
  const shown = isExpected ? { code: error.code, status: error.status, message } : { code: 'internal_error', message };
  // Structured content must satisfy the tool's output schema, also of a failed call.
  return { isError: true, content: [{ type: 'text' as const, text: message }], _meta: { error: shown } };
}
