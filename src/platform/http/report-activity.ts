import type { FastifyInstance } from 'fastify';
import type { UserCaller } from '../identity/callers.js';

/** Calls `record` after each response to a user whose account the database has accepted. */
export function reportActivity(app: FastifyInstance, record: (caller: UserCaller) => void): void {
  app.addHook('onResponse', async ({ caller, context }) => {
    if (caller?.kind === 'user' && context?.isAdmitted) record(caller);
  });
}
