import { element } from './element.ts';
import { addressOf, isList, readOperation, type Operation, type Parameter } from './operations.ts';
import { forgetToken, readToken, SignedOut } from './session.ts';

/** Where Usher is: the address of the page without `/docs`. */
const prefix = location.pathname.replace(/\/docs\/?$/, '');

/**
 * Adds "Try it" to every operation that the page can call: it sends a request as the operator who is signed in to the console in
 * this browser, with exactly that operator's rights.
 */
export function addTrials(): void {
  for (const article of document.querySelectorAll<HTMLElement>('article[data-operation]')) {
    const [method = '', path = ''] = (article.dataset['operation'] ?? '').split(' ');
    const details = element('details', { class: 'try' }, element('summary', {}, 'Try it'));
    details.addEventListener('toggle', () => void open(details, method, path), { once: true });
    article.append(details);
  }
}

async function open(details: HTMLElement, method: string, path: string): Promise<void> {
  try {
    details.append(trialForm(await readOperation(prefix, method, path)));
  } catch (error) {
    details.append(
      element('p', { role: 'alert' }, `This form could not be made. ${messageOf(error)} Reload the page.`),
    );
  }
}

function trialForm(operation: Operation): HTMLFormElement {
  const fields = new Map(operation.parameters.map((parameter) => [parameter, parameterField(parameter)]));
  const { body: example } = operation;
  const body = example === null ? null : element('textarea', { rows: String(linesOf(example)), spellcheck: 'false' });
  if (body !== null) body.value = example ?? '';
  const send = element('button', { type: 'submit' }, 'Send');
  const answer = element('div', { 'aria-live': 'polite' });
  const form = element(
    'form',
    {},
    ...[...fields].map(([parameter, field]) => element('label', {}, labelOf(parameter), field)),
    ...(body === null ? [] : [element('label', {}, 'body', body)]),
    element('p', {}, send, operation.method === 'GET' ? '' : ' This changes the data of your account.'),
    answer,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const valueOf = (parameter: Parameter): string => fields.get(parameter)?.value ?? '';
    const request = {
      address: addressOf(operation, valueOf),
      headers: headersOf(operation, valueOf),
      body: body?.value,
    };
    send.disabled = true;
    void call(operation.method, request)
      .then(
        (nodes) => answer.replaceChildren(...nodes),
        (error: unknown) => answer.replaceChildren(problemView(error)),
      )
      .finally(() => (send.disabled = false));
  });
  return form;
}

function parameterField({ required = false }: Parameter): HTMLInputElement {
  return element('input', { autocomplete: 'off', spellcheck: 'false', ...(required ? { required: '' } : {}) });
}

function labelOf(parameter: Parameter): string {
  return `${parameter.name}${isList(parameter) ? ' (separate with commas)' : ''}`;
}

function linesOf(text: string): number {
  return Math.min(20, text.split('\n').length);
}

function headersOf({ parameters }: Operation, valueOf: (parameter: Parameter) => string): Record<string, string> {
  const given = parameters.filter((parameter) => parameter.in === 'header' && valueOf(parameter) !== '');
  return Object.fromEntries(given.map((parameter) => [parameter.name, valueOf(parameter)]));
}

interface Trial {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

async function call(method: string, { address, headers, body }: Trial): Promise<Node[]> {
  const send = async (): Promise<Response> =>
    fetch(`${prefix}${address}`, {
      method,
      headers: {
        authorization: `Bearer ${await readToken(prefix)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  const began = performance.now();
  let response = await send();
  if (response.status === 401) {
    // The token has expired since the last request.
    forgetToken();
    response = await send();
  }
  const ms = Math.round(performance.now() - began);
  return [
    element('p', {}, element('b', {}, `${response.status} ${response.statusText}`.trim()), ` after ${ms} ms`),
    element('p', {}, element('code', {}, `${method} ${prefix}${address}`)),
    element('pre', { tabindex: '0' }, element('code', {}, await textOf(response))),
  ];
}

const maxShown = 100_000;

async function textOf(response: Response): Promise<string> {
  const headers = ['etag', 'location', 'retry-after', 'link']
    .map((name) => [name, response.headers.get(name)] as const)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`);
  const type = response.headers.get('content-type') ?? '';
  const isText = type === '' || /json|text|csv/.test(type);
  const body = isText
    ? readable(await response.text(), type)
    : `${(await response.arrayBuffer()).byteLength} bytes of ${type}`;
  const shown =
    body.length > maxShown ? `${body.slice(0, maxShown)}\n… ${body.length - maxShown} more characters` : body;
  return [...headers, ...(headers.length === 0 ? [] : ['']), shown].join('\n');
}

function readable(text: string, type: string): string {
  return type.includes('json') && text !== '' ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

function problemView(error: unknown): HTMLElement {
  if (!(error instanceof SignedOut)) return element('p', { role: 'alert' }, `The request failed. ${messageOf(error)}`);
  const link = element('a', { href: `${prefix}/console/`, target: '_blank' }, 'Sign in to the console');
  return element('p', { role: 'alert' }, 'You are not signed in. ', link, ' in this browser, then send again.');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
