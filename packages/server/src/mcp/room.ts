import type { Identity } from '../identity/room.ts';
import type { App } from '../platform/http/http.ts';
import type { Platform, Room } from '../platform/room.ts';

interface McpDependencies {
  readonly identity: Identity;
  /** Serves the requests of the tools. */
  readonly app: App;
}

/** Tools for AI assistants at `/mcp`. The protocol is loaded only if `USHER_MCP` is on. */
export function openMcp({ config, log }: Platform, { identity, app }: McpDependencies): Room {
  if (config.mcp === 'off') return {};
  const { directory } = identity;
  return {
    async routes() {
      const { mcpRoute, metadataRoutes } = await import('./routes.ts');
      metadataRoutes(app);
      mcpRoute(app, { directory, log, publicUrl: config.publicUrl });
    },
  };
}
