// Loaded into the print bridge with --import. Kills the process with SIGKILL at step KILL_AT: before or after one of its writes to
// the disk, to the printer or to the service.
import { createRequire, syncBuiltinESMExports } from 'node:module';

const require = createRequire(import.meta.url);
const files = require('node:fs/promises');
const { Socket } = require('node:net');

const killAt = Number(process.env.KILL_AT ?? 0);
let steps = 0;

function step() {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
}

for (const name of ['open', 'rename', 'unlink']) {
  const original = files[name];
  files[name] = async (...args) => {
    step();
    const result = await original(...args);
    step();
    return result;
  };
}
for (const name of ['write', 'end']) {
  const original = Socket.prototype[name];
  Socket.prototype[name] = function (...args) {
    // Standard output is a socket too.
    const isNetwork = this.connecting || this.remoteAddress !== undefined;
    if (isNetwork) step();
    const result = original.apply(this, args);
    // The kernel has the bytes now.
    if (isNetwork) step();
    return result;
  };
}
syncBuiltinESMExports();
