/** How often the parent is compared. */
const pollMs = 500;

/**
 * Resolves when the parent of this process has ended, so that the process belongs to another one. npx runs a program through a shell and
 * sends its signals to the shell, which dies of them and leaves the program behind. Only for processes that npx runs: the parent of a
 * daemon may end at any time.
 */
export async function parentEnded(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, pollMs).unref();
  });
}
