// Loaded into a service's own process with `node --import`: measures how long its event loop was held, and tells
// whoever asks on LOOP_WATCH_PORT. Only work of the main thread counts, so that a busy machine is not mistaken for it.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setInterval } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const port = Number(process.env.LOOP_WATCH_PORT);
const task = `/proc/self/task/${process.pid}/schedstat`;
const workedMs = () => Number(readFileSync(task, 'utf8').split(' ')[0]) / 1e6;

if (isMainThread && port) watch();

function watch() {
  let before = workedMs();
  let longest = 0;
  const look = () => {
    const now = workedMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(look, 2).unref();
  // every question starts the next measurement
  createServer((_request, response) => {
    look();
    // an open connection would keep the service from ending
    response.setHeader('connection', 'close').end(String(longest));
    longest = 0;
  })
    .listen(port, '127.0.0.1')
    .unref();
}
