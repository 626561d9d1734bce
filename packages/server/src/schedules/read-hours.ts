import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database/database.ts';
import type { SchedulingPolicyId } from '../platform/ids.ts';
import { compileHours, type CompiledHours } from './hours.ts';
import { policiesById } from './store.ts';

/** Compiled policies by id and version: compiling a large one takes milliseconds, and policies are read much more often than changed. */
const compiledPolicies = new BoundedMap<string, CompiledHours>(10_000);

/** The hours of these policies. */
export async function readHours(
  sql: Sql,
  ids: readonly SchedulingPolicyId[],
): Promise<Map<SchedulingPolicyId, CompiledHours>> {
  if (ids.length === 0) return new Map();
  const policies = await policiesById(sql, ids);
  return new Map(
    policies.map((policy) => {
      const key = `${policy.id} ${policy.version}`;
      const hours = compiledPolicies.get(key) ?? compileHours(policy);
      compiledPolicies.set(key, hours);
      return [policy.id, hours];
    }),
  );
}
