import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.js';
import { QUOTAS } from '../generated/bounds.js';
import { PUBLISHED } from './config/published.js';
import { makeLoginLimiter } from './platform/limits/login-limiter.js';
import { openSecrets, type Secrets } from './platform/access/secrets.js';
import { registerTokens, type Tokens } from './platform/access/tokens.js';
import { readContract, readRoutes } from './platform/contract/bundle.js';
import { listMigrations, MIGRATIONS } from './platform/db/migrations/migration-files.js';
import { openPasswords } from './modules/auth/public.js';
import { makeWorkbookReader, type WorkbookLimits } from './platform/files/workbook/read-workbook.js';
import { makeWorkbookWriters } from './platform/files/spreadsheet/write-workbook.js';
import { makeBulkLimits } from './platform/limits/bulk-limits.js';
import { watchLoop } from './platform/limits/overload/loop-guard.js';
import { makeOwnLimits, type SharedLimits } from './platform/limits/shared/shared-limits.js';
import { watchPressure } from './platform/limits/pressure.js';
import { makeLogoDrawer, type DrawingTimes } from './modules/couriers/logo/logo-drawer.js';
import type { Cell } from './platform/db/cells.js';
import type { Db } from './platform/db/database.js';
import { makeHandlers } from './handlers.js';
import { reportActivity } from './platform/http/report-activity.js';
import { registerSecurityText } from './platform/http/documents/security-text.js';
import { serveWhileClosing, type ReadinessWatch } from './platform/http/connections/graceful-shutdown.js';
import { makeDocument } from './platform/http/documents/static-documents.js';
import { announceDeprecations } from './platform/http/replies/deprecations.js';
import { sendRateLimits } from './platform/limits/headers/rate-limits.js';
import { makeFailureHandler } from './platform/http/replies/error-handler.js';
import { registerDocumentation } from './platform/http/documents/documentation.js';
import { registerConsole } from './platform/http/documents/console.js';
import { makeSettle } from './platform/limits/written/settle.js';
import { makeWriteAllowance, writeLimits } from './platform/limits/written/write-allowance.js';
import { makeKeyFailureLimit, makeRequestLimit } from './platform/limits/request-rate.js';
import { cutBodies } from './platform/http/provoked-failures.js';
import { registerRoutes } from './platform/http/routes.js';
import type { Timeouts } from './platform/http/connections/listener.js';
import { registerLines } from './platform/http/bodies/lines.js';
import { makeServer } from './platform/http/server.js';
import { sliceReplies } from './platform/http/documents/sliced-replies.js';
import { openTenants } from './platform/http/tenant-by-host.js';
import type { RequestMetrics } from './platform/metrics/requests.js';
import type { Tracer } from './platform/tracing/span.js';
import { openCallLog, type CallLog } from './modules/api-calls/call-log.js';
import { watchCalls } from './platform/http/calls/watch-calls.js';
import { openTokenUse } from './modules/service-tokens/last-use.js';
import { openLastSeen, type LastSeen } from './modules/sessions/last-seen.js';

export type App = {
  server: FastifyInstance;
  tokens: Tokens;
  secrets: Secrets;
  lastSeen: LastSeen;
  tokenUse: ReturnType<typeof openTokenUse>;
  callLog: CallLog;
};

export type AppOptions = {
  config: Config;
  db: Db;
  /** The other databases that contain tenants. */
  cells?: Cell[] | undefined;
  /** Shorter timeouts, for tests. */
  timeouts?: Timeouts;
  /** Shorter time limits for drawing logos, for tests. */
  drawing?: DrawingTimes | undefined;
  /** Shorter time limits for reading workbooks, for tests. */
  workbooks?: WorkbookLimits | undefined;
  /** The limits that hold for all processes of the server, if there are several. */
  limits?: SharedLimits | undefined;
  /** What all processes of the server know of the load balancer. */
  readiness?: ReadinessWatch | undefined;
  /** Counts every request. */
  metrics?: RequestMetrics | undefined;
  /** Traces requests. */
  tracer?: Tracer | undefined;
  /** For tests: registers a hook that sees every response as the handler wrote it, before it is sliced. */
  observe?: (server: FastifyInstance) => void;
};

/** Creates the server and connects all of its parts. The order of registration is the order of a request's hooks. */
export async function createApp({
  config,
  db,
  cells,
  timeouts,
  drawing,
  workbooks,
  limits = makeOwnLimits(),
  readiness,
  metrics,
  tracer,
  observe,
}: AppOptions): Promise<App> {
  const contract = await readContract();
  const { app: server, unread } = await makeServer(config, { timeouts, metrics, tracer, limits });
  const secrets = openSecrets(config.secrets, (context) =>
    server.log.error({ ...context }, 'cannot decrypt a secret'),
  );
  const tokens = await registerTokens(server, config.tokens);

  sendRateLimits(server);
  announceDeprecations(server);
  observe?.(server);
  sliceReplies(server, unread);
  cutBodies(server);
  serveWhileClosing(server, readiness);
  const lastSeen = openLastSeen((error) => server.log.warn({ err: error }, 'cannot update last_seen_at'));
  const tokenUse = openTokenUse((error) => server.log.warn({ err: error }, 'cannot update last_used_at'));
  reportActivity(server, { user: lastSeen.record, token: tokenUse.record });
  server.addHook('onClose', lastSeen.stop);
  server.addHook('onClose', tokenUse.stop);
  const callLog = openCallLog({
    ...config.callLog,
    onError: (error) => server.log.warn({ err: error }, 'cannot write the log of calls'),
    onLost: (count) => metrics?.callsLost(count),
  });
  if (config.callLog.days > 0) watchCalls(server, callLog.record, { tokens, secrets });
  server.addHook('onClose', callLog.stop);
  const writable = writeLimits(config.writtenBytesPerDay, QUOTAS.replaced_secrets.limit);
  const allowance = makeWriteAllowance({
    limits: writable,
    settle: makeSettle(writable),
    onRefused(owner, isFirst) {
      metrics?.writesRefused();
      if (isFirst) server.log.warn({ event: 'writes.refused', ...owner }, 'write allowance used up');
    },
    onError: (error) => server.log.warn({ err: error }, 'cannot settle a write allowance'),
  });
  server.addHook('onClose', allowance.stop);
  const pressure = watchPressure(db.connectionShares);
  server.addHook('onClose', async () => pressure.stop());
  const guard = watchLoop(metrics?.loopRefused);
  server.addHook('onClose', async () => guard.stop());
  const bulk = makeBulkLimits(config.poolSize, pressure, limits);
  registerLines(server, bulk.limitLines);
  server.setErrorHandler(makeFailureHandler(makeKeyFailureLimit(limits), db));
  const documents = [
    ...(await registerDocumentation(server)),
    ...(await registerConsole(server)),
    ...registerSecurityText(server, config.securityContacts),
  ];
  registerRoutes(
    server,
    await readRoutes(),
    makeHandlers({
      db,
      secrets,
      tokens,
      contract: {
        json: makeDocument('application/json; charset=utf-8', contract.json),
        yaml: makeDocument('application/yaml', contract.yaml),
        sdk: makeDocument('application/json; charset=utf-8', contract.sdk),
      },
      migrations: await listMigrations(MIGRATIONS),
      log: server.log,
      securityLog: (event, fields) => server.log.info({ event, ...fields }, event),
      loginLimiter: makeLoginLimiter(undefined, limits),
      passwords: openPasswords(
        config.passwordHashCost,
        config.appEnv === 'development' ? [] : [PUBLISHED.password],
      ),
      drawLogo: makeLogoDrawer(drawing, limits),
      readWorkbook: makeWorkbookReader(limits, workbooks),
      writeWorkbooks: makeWorkbookWriters(),
      outbound: config.outbound,
      customerChangesPerDay: config.customerChangesPerDay,
      keptCalls: config.callLog,
      publicUrl: config.publicUrl,
      bulk,
      limits,
    }),
    {
      db,
      tenants: openTenants(db, cells),
      tokens,
      secrets,
      limit: makeRequestLimit(config.rateLimitPerMinute, limits),
      written: { allowance, limits: writable },
      guard,
    },
    documents,
  );
  return { server, tokens, secrets, lastSeen, tokenUse, callLog };
}
