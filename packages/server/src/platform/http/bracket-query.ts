import { invalid, type Violation } from '../errors.ts';

/** Limits on the depth and the number of parameters of a query string. */
const limits = { depth: 20, parameters: 1_000 } as const;

type Branch = Map<string, Node>;
type Node = Branch | string;

/**
 * Parses a query string in bracket notation: `filter[fields][0][dimension]=site_id`. Indexes of lists are optional and only give
 * the order. Without them, `a[][x]=1&a[][y]=2&a[][x]=3` is read as Rack and PHP clients write it: a new element begins when the
 * last one already has the field.
 */
export function parseBrackets(query: string): Record<string, unknown> {
  const root: Branch = new Map();
  const pairs = [...new URLSearchParams(query)];
  if (pairs.length > limits.parameters)
    throw invalid([{ attribute: '', detail: `must not have more than ${limits.parameters} parameters` }]);
  // `_` is a cache buster and is ignored.
  for (const [name, value] of pairs) if (name !== '_') put(root, pathOf(name), value);
  return objectOf(root);
}

/** `a[b][]` has the path a, b and an empty name for the next element. A name in any other form is a path of one. */
function pathOf(name: string): string[] {
  const open = name.indexOf('[');
  if (open <= 0 || !name.endsWith(']')) return [name];
  const inside = name.slice(open + 1, -1).split('][');
  if (inside.some((part) => part.includes('[') || part.includes(']'))) return [name];
  const path = [name.slice(0, open), ...inside];
  if (path.length > limits.depth) throw invalid([violation(path.slice(0, 1), `is nested deeper than ${limits.depth}`)]);
  return path;
}

function put(root: Branch, path: readonly string[], value: string): void {
  let branch = root;
  for (const [index, part] of path.entries()) {
    const key = part === '' && index > 0 ? nextIndex(branch, path.slice(index + 1)) : part;
    const existing = branch.get(key);
    if (index === path.length - 1) {
      if (existing instanceof Map && !isList(existing))
        throw invalid([violation(path, 'is given as a value and as an object')]);
      if (existing === undefined) branch.set(key, value);
      else append(branch, key, existing, value);
      return;
    }
    if (typeof existing === 'string') throw invalid([violation(path, 'is given as a value and as an object')]);
    const next: Branch = existing ?? new Map<string, Node>();
    if (existing === undefined) branch.set(key, next);
    branch = next;
  }
}

/** `a=1&a=2` is a list, as is `a[]=1&a=2`. */
function append(branch: Branch, key: string, existing: Node, value: string): void {
  const list: Branch = existing instanceof Map ? existing : new Map([['0', existing]]);
  list.set(String(nextFree(list)), value);
  branch.set(key, list);
}

/** The element of a name without an index: the last one, unless it already has the field. */
function nextIndex(list: Branch, rest: readonly string[]): string {
  const next = nextFree(list);
  const last = list.get(String(next - 1));
  return last instanceof Map && rest.length > 0 && !has(last, rest) ? String(next - 1) : String(next);
}

function has(branch: Branch, [part = '', ...rest]: readonly string[]): boolean {
  if (part === '') return false;
  const found = branch.get(part);
  if (found === undefined) return false;
  return rest.length === 0 || !(found instanceof Map) || has(found, rest);
}

function nextFree(list: Branch): number {
  let greatest = -1;
  for (const key of list.keys()) if (isIndex(key)) greatest = Math.max(greatest, Number(key));
  return greatest + 1;
}

function isIndex(key: string): boolean {
  return /^\d{1,9}$/.test(key);
}

function isList(branch: Branch): boolean {
  return [...branch.keys()].every(isIndex);
}

function valueOf(node: Node): unknown {
  if (typeof node === 'string') return node;
  if (!isList(node)) return objectOf(node);
  return [...node].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, element]) => valueOf(element));
}

function objectOf(branch: Branch): Record<string, unknown> {
  const fields = [...branch].filter(([name]) => name !== '__proto__');
  return Object.fromEntries(fields.map(([name, node]) => [name, valueOf(node)]));
}

function violation(path: readonly string[], detail: string): Violation {
  return { attribute: `/${path.join('/')}`, detail };
}
