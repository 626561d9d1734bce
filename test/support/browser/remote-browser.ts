import { until, type Json } from '../server.ts';

/** The commands that `RemotePage` needs from a browser. */
export interface Driver {
  /** Resolves when the page is loaded. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Evaluates an expression in the page. Its value must be JSON. */
  evaluate(expression: string): Promise<Json>;
  click(x: number, y: number): Promise<void>;
  press(key: Key): Promise<void>;
  type(text: string): Promise<void>;
  /** Chooses a file in the file input that the expression finds. */
  chooseFile(expression: string, path: string): Promise<void>;
}

/** A browser that runs longer is killed, so that the tests end. */
export const longestRunMs = 180_000;

/** A browser that Playwright does not include: Debian's Firefox or WebKit. */
export interface RemoteBrowser {
  /** Opens a page with its own storage. */
  newPage(): Promise<RemotePage>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type Key = 'Tab' | 'Enter' | 'Escape';

/** Finds elements by their accessible name, in the page and in open shadow roots. Runs in the page. */
const finder = `
  const rootsIn = (root) =>
    [root, ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => (shadowRoot ? rootsIn(shadowRoot) : []))];
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });
  const all = (selector) => rootsIn(document).flatMap((root) => [...root.querySelectorAll(selector)]);
  const nameOf = (element) =>
    (element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '')
      .replaceAll(/\\s+/g, ' ').trim();
  const find = (selector, name) => all(selector).find((element) => isVisible(element) && nameOf(element) === name);
  const readable = () =>
    rootsIn(document)
      .flatMap((root) => [...root.children].filter(isVisible).map(({ innerText }) => innerText))
      .join(' ');
  const focused = () => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active;
  };
`;

/** A page that is controlled from outside. Clicks and keys go through the browser's own input, not through scripts. */
export class RemotePage {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async goto(url: string): Promise<void> {
    await this.#driver.goto(url);
  }

  async reload(): Promise<void> {
    await this.#driver.reload();
  }

  async evaluate<T = Json>(expression: string): Promise<T> {
    return (await this.#driver.evaluate(withFinder(`return (${expression});`))) as T;
  }

  /** Waits until an expression is true in the page. */
  async untilTrue(expression: string): Promise<void> {
    await until(async () => this.evaluate<boolean>(`Boolean(${expression})`)).catch((error: unknown) => {
      throw new Error(`${expression} did not become true`, { cause: error });
    });
  }

  /** Waits until the text is visible, in the page or in the widget. */
  async untilRead(text: string): Promise<void> {
    await this.untilTrue(`readable().includes(${JSON.stringify(text)})`);
  }

  /** Waits for the button and clicks in the middle of it. */
  async click(name: string, selector = 'button'): Promise<void> {
    const found = `find(${JSON.stringify(selector)}, ${JSON.stringify(name)})`;
    // A click on a moving element would miss it, so animations must have ended.
    const center = `(({ x, y, width, height }) => [x + width / 2, y + height / 2].map(Math.round))(${found}.getBoundingClientRect())`;
    await this.untilTrue(`${found} && document.getAnimations().length === 0`);
    const [x, y] = await this.evaluate<[number, number]>(center);
    await this.#driver.click(x, y);
  }

  async press(key: Key): Promise<void> {
    await this.#driver.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#driver.type(text);
  }

  /** Presses Tab until the element with this name has the focus. */
  async tabTo(name: string): Promise<void> {
    const reached: string[] = [];
    while (reached.length < 20) {
      await this.press('Tab');
      const current = await this.focusedName();
      if (current === name) return;
      reached.push(current);
    }
    throw new Error(`Tab did not reach ${name}, only ${reached.join(', ')}`);
  }

  /** The name of the focused element. The name of the body is all its text. */
  async focusedName(): Promise<string> {
    return this.evaluate<string>('nameOf(focused())');
  }

  async chooseFile(path: string): Promise<void> {
    await this.#driver.chooseFile(withFinder(`return all('input[type=file]')[0];`), path);
  }
}

function withFinder(body: string): string {
  return `(() => { ${finder} ${body} })()`;
}
