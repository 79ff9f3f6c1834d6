import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApp, type App, type AppOptions } from '../../../src/app.js';
import { startBackground } from '../../../src/jobs/background.js';
import type { Config } from '../../../src/config/config.js';
import { developmentConfig } from '../staging/development.js';
import { openDb, type DbOptions } from '../../../src/platform/db/open-database.js';
import { makeResponseValidator, validateResponses } from '../contract/response-validator.js';
import type { Db } from '../../../src/platform/db/database.js';
import { startTracing } from '../../../src/platform/tracing/start-tracing.js';
import { serveMetrics, type ServedMetrics } from '../../../src/platform/metrics/serve.js';
import { operations, type OperationId } from '../../../generated/operations.js';
import { bundle, filledPath } from './contract.js';
import { failureFaults } from '../failures/failure-check.js';
import { demoDatabase, freshDatabase, type TestDatabase } from './database.js';
import { MULTIPART_TYPE, multipartBody, type FormFields } from './forms.js';
import { observe } from './observations.js';
import { exemptFromEnd, startReplica, type Replica } from './processes.js';
import { IS_POOLED, poolDatabase } from '../harness/pooled.js';
import '../harness/compiled-schemas.js';

export type Reply = {
  status: number;
  headers: Headers;
  // Tests read fields of replies whose shape the response validator has checked.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: Record<string, any>;
  /** The body as received. */
  bytes: Buffer;
};

export type Call = {
  /** The name of a demo user, with the prefix `two/` for tenant two. */
  as?: string;
  /** Uses a new token and session, for calls that end them. */
  isFresh?: boolean;
  token?: string;
  key?: string;
  /** Path parameters. Those that are not given have the values of the contract's examples. */
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | string[]>;
  /** Sent as JSON. A string or a buffer is sent unchanged. */
  body?: unknown;
  /** Sent as multipart/form-data. */
  form?: FormFields;
  /** Sent as application/x-www-form-urlencoded. */
  urlencoded?: Record<string, string>;
  headers?: Record<string, string>;
  host?: string;
};

export type Service = {
  url: string;
  /** Connections of a superuser to the same database, without row-level security. */
  owner: pg.Pool;
  app: App;
  db: Db;
  /** Undefined without METRICS_PORT. */
  metrics: ServedMetrics | undefined;
  call(operationId: OperationId, call?: Call): Promise<Reply>;
  request(method: string, path: string, call?: Call): Promise<Reply>;
  tokenOf(user: string): Promise<string>;
  freshTokenOf(user: string): Promise<string>;
  stop(): Promise<void>;
};

export type ServiceOptions = {
  demo?: boolean;
  /** Serves this database instead of a new one. `stop` drops it. */
  database?: TestDatabase;
  /** The other databases that contain tenants. */
  cells?: AppOptions['cells'];
  /** False tests row-level security without the application's filters. */
  applicationFilters?: boolean;
  /** False tests the application's filters without row-level security. */
  rowSecurity?: boolean;
  env?: Record<string, string>;
  /** Replaces what no variable can set in development. */
  config?: Pick<Config, 'publicUrl'>;
  timeouts?: AppOptions['timeouts'];
  drawing?: AppOptions['drawing'];
  workbooks?: AppOptions['workbooks'];
  poolSize?: number;
  /** Returns the URL of a proxy in front of the database, for the service's own connections. */
  through?: (url: string) => string;
  /** A standby of the database, for reports. */
  replica?: DbOptions['replica'];
  /** Also runs a worker and allows loopback URLs of couriers. */
  worker?: boolean;
};

/** All services of a jest worker share it, because compiling the schemas of responses takes long. */
const validator = makeResponseValidator(bundle);

/** Starts the service on a free port with its own database. `stop` throws if a reply did not match the contract. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const database = options.database ?? (await (options.demo === false ? freshDatabase() : demoDatabase()));
  const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => {});
  const development = developmentConfig({
    LOG_LEVEL: 'silent',
    PORT: '0',
    // A hash at the service's cost takes 0.2 s of CPU. Tests of its time set the cost themselves.
    ...(options.env?.['APP_ENV'] ? {} : { PASSWORD_HASH_COST: '4' }),
    // All receivers of a test share one address, so the rate limit per address must not apply.
    ...(options.worker
      ? {
          OUTBOUND_ALLOW_LOOPBACK: 'true',
          OUTBOUND_REQUESTS_PER_SECOND: '100000',
          WORKER_HEARTBEAT_SECONDS: '1',
        }
      : {}),
    ...options.env,
    DATABASE_URL: database.ownerUrl,
  });
  const config: Config = { ...development, ...options.config };
  // Tests of the filters alone and of the network need their own connections.
  const isPooled = IS_POOLED && options.rowSecurity !== false && !options.through && !options.replica;
  const pooler = isPooled ? await poolDatabase(database.ownerUrl) : undefined;
  const connection = pooler
    ? { url: pooler.url, isBehindPooler: true, onError: () => {} }
    : {
        url: options.through?.(database.ownerUrl) ?? database.ownerUrl,
        ...(options.rowSecurity === false ? {} : { assumeRole: 'crossdock_app' }),
        onError: () => {},
      };
  const tracing = await startTracing(config.tracing, { warn: () => undefined });
  const tracer = tracing?.tracer;
  const { replica } = options;
  const db = openDb({
    ...connection,
    size: options.poolSize ?? 10,
    replica,
    readsWhileReadOnly: true,
    shedsLoad: true,
  });
  // A new connection can take longer than in production on a machine that runs several suites. It would be 503 `unavailable`.
  if (!options.through && !options.replica) db.pool.options.connectionTimeoutMillis = 10_000;
  const metrics = config.metrics ? await serveMetrics(config.metrics, connection) : undefined;
  metrics?.watchPool('service', db);
  if (db.replica) metrics?.watchReplica(db.replica);
  db.applicationFilters = options.applicationFilters ?? true;
  const faults: string[] = [];
  const app = await createApp({
    config,
    db,
    cells: options.cells,
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    drawing: options.drawing,
    workbooks: options.workbooks,
    metrics,
    tracer,
    observe: (server) =>
      validateResponses(server, validator, (reply) => {
        observe(reply);
        const { operationId, status } = reply;
        const found = [...reply.problems, ...failureFaults(reply)];
        faults.push(...found.map((fault) => `${operationId} ${status}: ${fault}`));
      }),
  });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const separate = await startSeparately(options, database.ownerUrl);
  const background = options.worker
    ? startBackground({
        config,
        connection: pooler
          ? connection
          : { url: database.ownerUrl, assumeRole: 'crossdock_app', onError: () => {} },
        queueConnection: { url: database.ownerUrl, assumeRole: 'crossdock_app', onError: () => {} },
        log: app.server.log,
        metrics,
        tracer,
      })
    : undefined;
  // Sessions are created now, so that the first use of a token in a test writes nothing.
  const sessions = await openSessions(owner);
  const tokens = new Map<string, Promise<string>>();
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });

  const service: Service = {
    url: separate?.url ?? url,
    owner,
    app,
    db,
    metrics,
    call(operationId, call = {}) {
      return service.request(operations[operationId].method, filledPath(operationId, call.path), call);
    },
    request: (method, path, call = {}) => send(service, agent, method, path, call),
    tokenOf(user) {
      const token = tokens.get(user) ?? issueToken(service, user, sessions);
      tokens.set(user, token);
      return token;
    },
    freshTokenOf: (user) => issueToken(service, user, new Map()),
    async stop() {
      // server.close() would wait for idle connections.
      agent.destroy();
      await separate?.stop();
      await app.server.close();
      await background?.stop(10_000);
      await metrics?.close();
      await tracing?.stop();
      await db.close();
      await owner.end();
      await pooler?.stop();
      await database.drop();
      // Node 20 never frees the modules of a test file. Without its parts, the service that they refer to is small.
      for (const part of Object.keys(service)) Reflect.deleteProperty(service, part);
      if (faults.length > 0)
        throw new Error(`Replies broke the contract:\n${[...new Set(faults)].join('\n')}`);
    },
  };
  return service;
}

/** Shorter than Retry-After, and long enough that the repetitions of hundreds of callers leave time for the others. */
const RETRY_MS = 300;

/**
 * With TEST_API_PROCESSES, requests go to a server of as many processes instead: for races and the contract, beside the ordinary run. The
 * server in this process only issues tokens. Tests that look into the server, or give it other parts, keep that one.
 */
async function startSeparately(options: ServiceOptions, databaseUrl: string): Promise<Replica | undefined> {
  const { demo: _demo, env = {}, ...parts } = options;
  if (!process.env['TEST_API_PROCESSES'] || Object.keys(parts).length > 0) return undefined;
  const server = await startReplica({
    PASSWORD_HASH_COST: '4',
    RUN_WORKER: 'false',
    ...env,
    DATABASE_URL: databaseUrl,
  });
  exemptFromEnd(server);
  return server;
}

/**
 * Repeats a call while the response is 503 `overloaded`, because no connection became free within 2 seconds. It changes nothing, so a
 * race's counts stay correct. Any other 503 is returned: with a healthy database it is a defect.
 */
export async function untilAdmitted<Answer extends { status: number; body: Record<string, unknown> }>(
  call: () => Promise<Answer>,
): Promise<Answer> {
  const reply = await call();
  if (reply.status !== 503 || reply.body['code'] !== 'overloaded') return reply;
  await sleep(RETRY_MS);
  return untilAdmitted(call);
}

async function send(
  service: Service,
  agent: Agent,
  method: string,
  path: string,
  call: Call,
): Promise<Reply> {
  const target = new URL(path, service.url);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    for (const item of [value].flat()) target.searchParams.append(name, String(item));
  }
  const headers: Record<string, string> = {};
  const host = call.host ?? (call.as?.startsWith('two/') ? 'two.localhost' : undefined);
  if (host) headers['host'] = host;
  const issued = call.isFresh ? service.freshTokenOf : service.tokenOf;
  const token = call.token ?? (call.as ? await issued(call.as) : undefined);
  if (token) headers['authorization'] = `Bearer ${token}`;
  if (call.key) headers['x-api-key'] = call.key;
  const [type, body] = toBody(call);
  if (type) headers['content-type'] = type;
  Object.assign(headers, call.headers);
  return exchange(agent, target, method, headers, body);
}

function toBody({ body, form, urlencoded }: Call): [type?: string, body?: string | Buffer] {
  if (form) return [MULTIPART_TYPE, multipartBody(form)];
  if (urlencoded) return ['application/x-www-form-urlencoded', new URLSearchParams(urlencoded).toString()];
  if (body === undefined) return [];
  const isReady = typeof body === 'string' || Buffer.isBuffer(body);
  return ['application/json', isReady ? body : JSON.stringify(body)];
}

// node:http, because fetch does not allow a custom Host header.
function exchange(
  agent: Agent,
  url: URL,
  method: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sized =
      body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const request = httpRequest(url, { method, headers: sized, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString();
        const { 'content-type': type, 'content-encoding': encoding } = response.headers;
        const isJson = method !== 'HEAD' && encoding === undefined && (type?.includes('json') ?? false);
        const received = new Headers(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        resolve({
          status: response.statusCode ?? 0,
          headers: received,
          body: isJson ? JSON.parse(text) : { text, bytes },
          bytes,
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Creates a session for each user, or for one. Returns the session ids by user id. */
async function openSessions(owner: pg.Pool, userId: string | null = null): Promise<Map<string, string>> {
  const { rows } = await owner.query<{ id: string; user_id: string }>(
    `insert into sessions (tenant_id, id, user_id, started_by, address, user_agent, expires_at)
     select tenant_id, new_id(), id, 'login', '127.0.0.1', 'test', now() + interval '8 hours'
     from users where $1::uuid is null or id = $1 returning id, user_id`,
    [userId],
  );
  return new Map(rows.map((row) => [row.user_id, row.id]));
}

/** Signs a token as login does, without the cost of a password hash. */
async function issueToken(service: Service, user: string, sessions: Map<string, string>): Promise<string> {
  const [slug, username] = user.startsWith('two/') ? ['two', user.slice(4)] : ['demo', user];
  const { rows } = await service.owner.query(
    `select u.*, extract(epoch from now())::int as now_s from users u join tenants t on t.id = u.tenant_id
     where t.slug = $1 and u.username = $2`,
    [slug, username],
  );
  const [row] = rows;
  if (!row) throw new Error(`There is no demo user ${user}.`);
  const sessionId = sessions.get(row.id) ?? (await openSessions(service.owner, row.id)).get(row.id);
  return service.app.tokens.issue(
    {
      tenantId: row.tenant_id,
      userId: row.id,
      role: row.role,
      courierId: row.courier_id,
      tokenVersion: row.token_version,
      sessionId,
    },
    row.now_s,
  );
}
