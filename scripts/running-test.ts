import asyncHooks, { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } from 'node:async_hooks';

/**
 * Loaded in a test process before its files. Node's runner looks up the running test when a file calls `test` or `after`, and when an
 * error is not caught. It finds the test by an async hook, which V8 calls for every promise: a seventh of the processor time of
 * tests that use the database. Here the runner gets its own `async_hooks` while it is loaded, in which each test sets an async context.
 * Everything else in the process gets the real module.
 */
const running = new AsyncLocalStorage<TestResource>();

type NoteTest = (asyncId: number, type: string, triggerAsyncId: number, test: object) => void;
/** The hook by which the runner notes the tests that it has created. */
let noteTest: NoteTest | null = null;

/** What the runner derives its tests from. */
class TestResource extends AsyncResource {
  constructor(...args: ConstructorParameters<typeof AsyncResource>) {
    super(...args);
    noteTest?.(this.asyncId(), 'Test', 0, this);
  }

  override runInAsyncScope<This, Result>(fn: (this: This, ...args: never[]) => Result, on?: This, ...args: unknown[]) {
    return super.runInAsyncScope(() => running.run(this, () => Reflect.apply(fn, on, args) as Result));
  }
}

const inert = { enable: () => inert, disable: () => inert };

Object.assign(asyncHooks, {
  AsyncResource: TestResource,
  createHook({ init }: { readonly init: NoteTest }) {
    noteTest = init;
    return inert;
  },
  executionAsyncId: () => running.getStore()?.asyncId() ?? 0,
});
await import('node:test');
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });
