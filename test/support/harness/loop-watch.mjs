// Loaded into the service's process with `node --import`. Measures how long its event loop was blocked and
// serves the result on LOOP_WATCH_PORT. Only work of the main thread counts, so that load on the machine does
// not distort it.
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
  const measure = () => {
    const now = workedMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(measure, 2).unref();
  // Each request starts the next measurement.
  createServer((_request, response) => {
    measure();
    // An open connection would keep the service's process alive.
    response.setHeader('connection', 'close').end(String(longest));
    longest = 0;
  })
    .listen(port, '127.0.0.1')
    .unref();
}
