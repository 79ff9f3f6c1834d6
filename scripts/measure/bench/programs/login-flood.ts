import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { DEMO } from '../../../../fixtures/demo/seed.js';

// Runs as a worker: sends logins with the right password at a constant rate, each on its own connection, as
// on a busy morning. Reports the statuses and the longest response time.
type Load = { port: number; perSecond: number; seconds: number };

const { port, perSecond, seconds } = workerData as Load;
const USERS = ['admin', 'manager', 'warehouse', 'iex', 'hrb'];

const statuses: Record<string, number> = {};
let longestMs = 0;
const calls: Promise<void>[] = [];
const started = performance.now();
for (let n = 0; n < perSecond * seconds; n += 1) {
  const waitMs = started + (n * 1000) / perSecond - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  calls.push(logIn(USERS[n % USERS.length] ?? ''));
}
await Promise.all(calls);
parentPort?.postMessage({ statuses, longestMs });

function logIn(username: string): Promise<void> {
  const body = JSON.stringify({ action: 'login', username, password: DEMO.password });
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const options = {
      port,
      host: '127.0.0.1',
      path: '/api/login.php',
      method: 'POST',
      headers,
      agent: false,
    };
    const call = request(options, (response) => {
      response.resume();
      response.on('end', () => {
        const status = String(response.statusCode);
        statuses[status] = (statuses[status] ?? 0) + 1;
        longestMs = Math.max(longestMs, performance.now() - sentAt);
        resolve();
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
