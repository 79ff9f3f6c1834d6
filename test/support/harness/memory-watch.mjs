// Loaded into the service's process with `node --import`. Serves on MEMORY_WATCH_PORT the bytes that the process needs after
// a garbage collection, so that garbage does not hide what the service retains.
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const port = Number(process.env.MEMORY_WATCH_PORT);
if (isMainThread && port) watch();

function watch() {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  createServer((_request, response) => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    // An open connection would keep the service's process alive.
    response.setHeader('connection', 'close').end(String(heapUsed + external));
  })
    .listen(port, '127.0.0.1')
    .unref();
}
