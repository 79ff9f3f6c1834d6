import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createServiceLogin } from '../../../src/platform/db/connections/roles.js';
import { projectRoot } from '../../../src/config/project-root.js';

export type BenchService = { port: number; pid: number; servingUrl: string };

/** The port of the service that the run measures. */
let servicePort = 0;

/** Starts the built service as a separate process for `work`, and stops it whatever happens. */
export async function withService<Result>(
  { ownerUrl, nodeOptions = [] }: { ownerUrl: string; nodeOptions?: string[] },
  work: (service: BenchService) => Promise<Result>,
): Promise<Result> {
  const servingUrl = await createLogin(ownerUrl);
  servicePort = await freePort();
  const env = {
    ...environmentOf(servingUrl, ownerUrl),
    PORT: String(servicePort),
    POOL_SIZE: '10',
    OUTBOUND_REQUESTS_PER_SECOND: '1000000',
  };
  const { child, stop } = startProgram('main.js', { env, nodeOptions });
  try {
    await waitUntilReady(child, servicePort);
    return await work({ port: servicePort, pid: child.pid ?? 0, servingUrl });
  } finally {
    await stop();
  }
}

/** Returns the URL of a new login of the service. */
export const createLogin = (ownerUrl: string): Promise<string> =>
  createServiceLogin(ownerUrl, randomBytes(24).toString('base64url'));

/** The settings that every measured process has. */
export const environmentOf = (databaseUrl: string, ownerUrl: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  APP_ENV: 'development',
  // Costs are compared with those of earlier runs.
  API_PROCESSES: '1',
  DATABASE_URL: databaseUrl,
  DATABASE_OWNER_URL: ownerUrl,
  OUTBOUND_ALLOW_LOOPBACK: 'true',
  // Runs change more customers than the quota of a day allows.
  CUSTOMER_CHANGES_PER_DAY: '100000000',
  WRITTEN_MIB_PER_DAY: '1000000',
  // To measure what the log of calls costs: 0 switches it off.
  API_CALL_LOG_DAYS: process.env['API_CALL_LOG_DAYS'] ?? '30',
});

type Started = { child: ChildProcess; exited: Promise<void>; stop(): Promise<void> };

type ProgramOptions = {
  env: NodeJS.ProcessEnv;
  /** A module that measures the memory of the program. */
  probe?: string;
  nodeOptions?: string[];
};

/** Starts a built program as an operator does, without its log. */
export function startProgram(program: string, { env, probe, nodeOptions = [] }: ProgramOptions): Started {
  const options = probe === undefined ? [] : ['--expose-gc', '--import', probe];
  const child = spawn(
    process.execPath,
    [...nodeOptions, ...options, join(projectRoot, 'dist/src', program)],
    {
      env,
      stdio: ['ignore', 'ignore', 'inherit', ...(probe === undefined ? [] : ['ipc' as const])],
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    child,
    exited,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export async function waitUntilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      if ((await fetch(`http://127.0.0.1:${port}/ready`)).ok) return;
    } catch (error) {
      if (child.exitCode !== null) throw new Error('The service ended instead of serving.', { cause: error });
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}

const agent = new Agent({ keepAlive: true });

export type Exchange = {
  method: string;
  path: string;
  host: string;
  headers?: Record<string, string>;
  body?: unknown;
};

/**
 * Sends a request on a kept-alive connection and returns the parsed body. @throws unless the status is 2xx
 */
export async function exchange(call: Exchange): Promise<Record<string, unknown>> {
  // The service returns JSON objects for these calls.
  return JSON.parse((await fetchBytes(call)).toString()) as Record<string, unknown>;
}

/** The same for a response that is a file. A Buffer is sent unchanged, with the given headers. */
export function fetchBytes({ method, path, host, headers = {}, body }: Exchange): Promise<Buffer> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const type =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  return new Promise((resolve, reject) => {
    const options = {
      port: servicePort,
      host: '127.0.0.1',
      method,
      path,
      agent,
      headers: { host, ...type, ...headers },
    };
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const reply = Buffer.concat(chunks);
        const status = response.statusCode ?? 0;
        if (status < 200 || status > 299)
          reject(new Error(`${method} ${path} returned ${status}: ${reply.toString()}`));
        else resolve(reply);
      });
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

/** Logs in as the tenant's administrator. */
export async function logIn(host: string): Promise<string> {
  const reply = await exchange({
    method: 'POST',
    path: '/api/login.php',
    host,
    body: { action: 'login', username: 'admin', password: 'crossdock-demo' },
  });
  // The contract defines this response to a login without a second factor.
  return (reply['data'] as { access_token: string }).access_token;
}
