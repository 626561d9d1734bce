/** What an operator may do on a site, from least to most. */
export const roles = ['operator', 'manager', 'super_manager'] as const;
export type Role = (typeof roles)[number];

export function atLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
