import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../src/config/project-root.js';
import { treeCpuMs } from './rig/cpu.js';
import { median } from './rig/statistics.js';
import { freePort } from './rig/service.js';
import { runScript } from '../../src/commands/run/script.js';

const POLL_MS = 5;
const LIMIT_MS = 300_000;

type Started = { ms: number; cpuMs: number };

// npm run bench:start: measures how long `npm start` takes until /ready responds with 200, and the CPU time of all its processes until then.
// With DATABASE_URL in the environment it uses that database, otherwise the embedded one. `npm run bench:start -- FOLDER OTHER`
// measures the projects in these folders in turns, so that both have the same conditions. The first start of each does not count.
await runScript(async (print) => {
  const { values, positionals } = parseArgs({
    options: { runs: { type: 'string', default: '10' } },
    allowPositionals: true,
  });
  const folders = positionals.length > 0 ? positionals : [projectRoot];
  const runs = Number(values.runs);
  if (!(runs >= 1)) throw new Error('--runs needs a number of at least 1.');
  for (const folder of folders) await measureStart(folder);
  const started = new Map(folders.map((folder) => [folder, [] as Started[]]));
  for (let run = 0; run < runs; run += 1)
    for (const [folder, results] of started) results.push(await measureStart(folder));
  for (const [folder, results] of started) print(`${folder}: ${describe(results)}`);
});

/** Starts the project in `folder` as an operator does, and stops it once it serves. */
async function measureStart(folder: string): Promise<Started> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const startedMs = performance.now();
  // With a process group of its own, which receives the signal as that of a terminal does.
  const child = spawn('npm', ['start'], { cwd: folder, env, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const pid = child.pid ?? 0;
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`npm start failed in ${folder}.`);
      if (performance.now() - startedMs > LIMIT_MS) throw new Error(`npm start takes too long in ${folder}.`);
      await sleep(POLL_MS);
    }
    return { ms: performance.now() - startedMs, cpuMs: treeCpuMs(pid) };
  } finally {
    if (child.exitCode === null) process.kill(-pid, 'SIGINT');
    await ended;
  }
}

/** Not with fetch, which uses enough CPU time to delay the start on two cores. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

function describe(results: Started[]): string {
  const times = results.map(({ ms }) => ms);
  const figures = [median(times), Math.min(...times), Math.max(...times)].map(Math.round);
  const cpuMs = Math.round(median(results.map((each) => each.cpuMs)));
  return `median ${figures[0]} ms, ${figures[1]} to ${figures[2]}; CPU ${cpuMs} ms`;
}
