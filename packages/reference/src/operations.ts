/** What the page reads of openapi.json to call an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: { readonly type?: unknown };
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The JSON body of the example; `null` if the operation has no body. */
  readonly body: string | null;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

let api: Promise<Api> | null = null;

/** Reads openapi.json once, when the first operation is tried. */
export async function readOperation(prefix: string, method: string, path: string): Promise<Operation> {
  api ??= fetch(`${prefix}/openapi.json`).then(async (response) => (await response.json()) as Api);
  try {
    const described = (await api).paths[path]?.[method.toLowerCase()];
    if (described === undefined) throw new Error(`openapi.json does not describe ${method} ${path}.`);
    const { parameters = [], requestBody } = described;
    const json = requestBody?.content['application/json'];
    return { method, path, parameters, body: json === undefined ? null : JSON.stringify(json.example ?? {}, null, 2) };
  } catch (error) {
    api = null;
    throw error;
  }
}

export function isList({ schema }: Parameter): boolean {
  return schema?.type === 'array';
}

/** The path with its parameters and the query. A list is written with commas and sent as `ids[]=one&ids[]=two`: `ids[]` is its name. */
export function addressOf({ path, parameters }: Operation, valueOf: (parameter: Parameter) => string): string {
  let address = path;
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    const value = valueOf(parameter).trim();
    if (parameter.in === 'path') address = address.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.in === 'query' && value !== '') addToQuery(query, parameter, value);
  }
  return query.size === 0 ? address : `${address}?${query}`;
}

function addToQuery(query: URLSearchParams, parameter: Parameter, value: string): void {
  if (!isList(parameter)) return query.append(parameter.name, value);
  for (const item of value.split(',')) query.append(parameter.name, item.trim());
}
