import type { FastifyInstance } from 'fastify';
import type { Config } from './config.js';
import { makeLoginGate } from './auth/login-gate.js';
import { openSecrets, type Secrets } from './auth/secrets.js';
import { registerTokens, type Tokens } from './auth/tokens.js';
import type { Bundle } from './contract/bundle.js';
import { readContract } from './contract/bundle.js';
import { checkReplies, type SeenReply } from './contract/check-replies.js';
import { listMigrations } from './db/migrate.js';
import { MIGRATIONS } from './db/prepare.js';
import { makeLogoDrawer } from './couriers/drawer.js';
import type { Db } from './db/transaction.js';
import { makeHandlers } from './handlers.js';
import { reportActivity } from './http/activity.js';
import { refuseWhileClosing } from './http/closing.js';
import { makeDocument } from './http/documents.js';
import { makeFailureHandler } from './http/failures.js';
import { registerReference } from './http/reference.js';
import { openKeyFailures, openRequestLimit } from './http/request-limit.js';
import { registerRoutes } from './http/routes.js';
import type { Timeouts } from './http/listener.js';
import { makeServer } from './http/server.js';
import { sliceReplies } from './http/slices.js';
import { openTenants } from './http/tenants.js';
import type { RequestMetrics } from './metrics/requests.js';
import { openLastSeen, type LastSeen } from './sessions/last-seen.js';

export type App = { server: FastifyInstance; tokens: Tokens; secrets: Secrets; lastSeen: LastSeen };

export type AppOptions = {
  config: Config;
  db: Db;
  /** Shorter ones than production's, for tests. */
  timeouts?: Timeouts;
  /** Told of every request. */
  metrics?: RequestMetrics | undefined;
  /** Tests: every reply is judged against the contract, and told of here. */
  onReply?: (reply: SeenReply) => void;
};

/** The whole composition: everything the service is made of, and in which order a request meets it. */
export async function createApp({ config, db, timeouts, metrics, onReply }: AppOptions): Promise<App> {
  const contract = await readContract();
  // as: our own generator wrote it
  const bundle = JSON.parse(contract.json) as Bundle;
  const { app: server, unread } = await makeServer(config, timeouts, metrics);
  const secrets = openSecrets(config.secrets, (place) =>
    server.log.error({ ...place }, 'a secret does not open'),
  );
  const tokens = await registerTokens(server, config.tokens);

  if (onReply) checkReplies(server, bundle, onReply);
  sliceReplies(server, unread);
  refuseWhileClosing(server);
  const lastSeen = openLastSeen(db, (error) => server.log.warn({ err: error }, 'last_seen_at not written'));
  reportActivity(server, lastSeen.note);
  server.addHook('onClose', lastSeen.stop);
  server.setErrorHandler(makeFailureHandler(db, openKeyFailures()));
  await registerReference(server, bundle);
  await registerRoutes(
    server,
    bundle,
    makeHandlers({
      db,
      secrets,
      tokens,
      contract: {
        json: makeDocument('application/json; charset=utf-8', contract.json),
        yaml: makeDocument('application/yaml', contract.yaml),
      },
      migrations: await listMigrations(MIGRATIONS),
      securityLog: (event, facts) => server.log.info({ event, ...facts }, event),
      loginGate: makeLoginGate(),
      drawLogo: makeLogoDrawer(),
      outbound: config.outbound,
      customerChangesPerDay: config.customerChangesPerDay,
    }),
    {
      db,
      tenants: openTenants(db.pool),
      tokens,
      secrets,
      limit: openRequestLimit(config.rateLimitPerMinute),
    },
  );
  return { server, tokens, secrets, lastSeen };
}
