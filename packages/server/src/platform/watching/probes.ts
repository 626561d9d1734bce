/** Monitoring calls these paths every few seconds, which says nothing about the use of the service. */
export const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
