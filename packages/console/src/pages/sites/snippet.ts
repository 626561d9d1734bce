import { pathPrefix } from '../../path-prefix.ts';

/** The embed code of the widget. */
export function embedCode(baseUrl: string, siteId: string, token: string): string {
  return `<script src="${baseUrl}/widget.js" data-site="${siteId}" data-token="${token}" async></script>`;
}

/** The demo page with the widget. */
export function demoUrl(siteId: string, token: string): string {
  return `${pathPrefix}/demo?${new URLSearchParams({ site: siteId, token }).toString()}`;
}
