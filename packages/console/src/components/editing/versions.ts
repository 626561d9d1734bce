/** Who changed a field since the common base. */
type ChangedBy = 'me' | 'them' | 'both';
export type Side = 'mine' | 'theirs';

export interface Difference<Fields> {
  readonly key: keyof Fields & string;
  readonly changedBy: ChangedBy;
}

export type Choices<Fields> = Readonly<Partial<Record<keyof Fields, Side>>>;

/** Deep equality of JSON values, regardless of the order of fields. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) =>
    isEqual((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
  );
}

/** The fields in which two versions with the same base differ. */
export function differences<Fields extends object>(base: Fields, mine: Fields, theirs: Fields): Difference<Fields>[] {
  const keys = Object.keys(mine) as (keyof Fields & string)[];
  return keys
    .filter((key) => !isEqual(mine[key], theirs[key]))
    .map((key) => {
      const [byMe, byThem] = [!isEqual(base[key], mine[key]), !isEqual(base[key], theirs[key])];
      return { key, changedBy: byMe && byThem ? 'both' : byMe ? 'me' : 'them' };
    });
}

/** Fields changed by one side keep that change; fields changed by both default to mine. */
export function defaultChoices<Fields>(found: readonly Difference<Fields>[]): Choices<Fields> {
  const sides = found.map(({ key, changedBy }) => [key, changedBy === 'them' ? 'theirs' : 'mine']);
  return Object.fromEntries(sides) as Choices<Fields>;
}

export function chooseAll<Fields>(found: readonly Difference<Fields>[], side: Side): Choices<Fields> {
  return Object.fromEntries(found.map(({ key }) => [key, side])) as Choices<Fields>;
}

export function mergeVersions<Fields extends object>(mine: Fields, theirs: Fields, choices: Choices<Fields>): Fields {
  const keys = Object.keys(mine) as (keyof Fields)[];
  return Object.fromEntries(
    keys.map((key) => [key, choices[key] === 'theirs' ? theirs[key] : mine[key]]),
  ) as unknown as Fields;
}
