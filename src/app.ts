import type { FastifyInstance } from 'fastify';
import type { Config } from './config.js';
import { makeLoginGate } from './auth/login-gate.js';
import { openSecrets, type Secrets } from './auth/secrets.js';
import { registerTokens, type Tokens } from './auth/tokens.js';
import type { Bundle } from './contract/bundle.js';
import { readContract } from './contract/bundle.js';
import { checkReplies, type SeenReply } from './contract/check-replies.js';
import type { Db } from './db/transaction.js';
import { makeHandlers } from './handlers.js';
import { reportActivity } from './http/activity.js';
import { refuseWhileClosing } from './http/closing.js';
import { makeFailureHandler } from './http/failures.js';
import { registerReference } from './http/reference.js';
import { openKeyFailures, openRequestLimit } from './http/request-limit.js';
import { registerRoutes } from './http/routes.js';
import { makeServer, type Timeouts } from './http/server.js';
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
  const server = await makeServer(config, timeouts, metrics);
  const secrets = openSecrets(config.secrets);
  const tokens = await registerTokens(server, config.tokens);

  if (onReply) checkReplies(server, bundle, onReply);
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
      contract,
      loginGate: makeLoginGate(),
      outbound: config.outbound,
    }),
    {
      db,
      tenants: openTenants(db.pool),
      tokens,
      secrets,
      limit: openRequestLimit(config.rateLimitPerMinute),
      httpsOnly: config.appEnv !== 'development',
    },
  );
  return { server, tokens, secrets, lastSeen };
}
