import type { FromTask } from './task-process.js';

/** Does the one task of a process that `makeTaskProcesses` has started, and ends with the service. */
export function serveTask<Message, Result>(work: (message: Message) => Result | Promise<Result>): void {
  const send = (sent: FromTask<Result>) => process.send?.(sent);
  process.once('disconnect', () => process.exit());
  process.once('message', async ({ message }: { message: Message }) => {
    try {
      send({ result: await work(message) });
    } catch (error) {
      send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  send({ loaded: true });
}
