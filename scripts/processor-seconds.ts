import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Processor time of a process and of its children that have ended: servers, browsers, databases of their own. */
interface ProcessorSeconds {
  readonly own: number;
  readonly children: number;
}

/** Linux counts in hundredths of a second here, whatever the kernel's own clock. */
const ticksPerSecond = 100;

/** Of the calling process. Only Linux says how much its children used. */
export function processorSeconds(): ProcessorSeconds {
  const { user, system } = process.cpuUsage();
  return { own: (user + system) / 1e6, children: childrenSeconds() };
}

function childrenSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program, in parentheses, may contain spaces. Fields 16 and 17 of proc(5): cutime and cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Prints what each file used, the most expensive first. The folder has one JSON file of each test process. */
export function printProcessorSeconds(folder: string): void {
  const files = readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ProcessorSeconds & { readonly file: string })
    .toSorted((one, other) => other.own + other.children - one.own - one.children);
  const ofFiles = files.reduce((sum, { own, children }) => sum + own + children, 0);
  console.log('\nProcessor seconds of each file, and of its child processes in parentheses:');
  for (const { file, own, children } of files)
    console.log(`${(own + children).toFixed(1).padStart(8)} (${children.toFixed(1)})  ${file}`);
  console.log(`${ofFiles.toFixed(1).padStart(8)}  all files`);
  // The runner and its PostgreSQL have ended by now, and the test files were children of the runner.
  console.log(
    `${(childrenSeconds() - ofFiles).toFixed(1).padStart(8)}  Node's runner, the shared PostgreSQL and checks`,
  );
}
