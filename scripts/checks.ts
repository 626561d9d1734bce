import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A static check of `npm run check` and `npm test`: a title and the arguments to Node. */
export type Check = readonly [title: string, args: readonly string[]];

const bin = (name: string): string[] => [`node_modules/${name}`];

/** Type checks are incremental: the result of the last one is cached. */
function types(title: string, project = '.'): Check {
  const buildInfo = `node_modules/.cache/${project.replaceAll('/', '-')}.tsbuildinfo`;
  const args = ['--project', project, '--incremental', '--tsBuildInfoFile', buildInfo];
  return [title, [...bin('typescript/bin/tsc'), ...args]];
}

/** The fastest checks come first. */
export const codeChecks: readonly Check[] = [
  ['import direction', ['scripts/checks/check-imports.ts']],
  ['rules', ['scripts/checks/check-rules.ts']],
  ['words', ['scripts/checks/check-words.ts']],
  types('types'),
  types('types of the console', 'packages/console'),
  types('types of the widget', 'packages/widget'),
  types('types of calls', 'packages/call'),
  types('types of the reference', 'packages/reference'),
  types('types of the SDK', 'packages/sdk'),
  ['dead code', [...bin('knip/bin/knip.js'), '--no-progress', '--no-config-hints']],
  ['lint', [...bin('oxlint/bin/oxlint'), '--type-aware', '--quiet', '--deny-warnings']],
];

/** Files whose content was formatted at the last check are not parsed again. */
const prettierArgs = ['--check', '--cache', '--cache-strategy=content', '--log-level=warn', '.'];
export const formatCheck: Check = ['format', [...bin('prettier/bin/prettier.cjs'), ...prettierArgs]];

export async function run(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

/** Runs one check after the other. Returns the titles of the failed checks. */
export async function runChecks(checks: readonly Check[], niceness = 0): Promise<string[]> {
  const failed: string[] = [];
  for (const [title, args] of checks) {
    const began = performance.now();
    const passed = await run('nice', ['-n', String(niceness), process.execPath, ...args]);
    console.log(`${passed ? 'ok    ' : 'FAILED'} ${title} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    if (!passed) failed.push(title);
  }
  return failed;
}
