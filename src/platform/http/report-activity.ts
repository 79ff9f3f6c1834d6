import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.js';
import type { UserCaller } from '../identity/callers.js';

/** Calls `record` after each response to a user whose account the database has accepted. */
export function reportActivity(app: FastifyInstance, record: (caller: UserCaller, db: Db) => void): void {
  app.addHook('onResponse', async ({ caller, context, db }) => {
    if (caller?.kind === 'user' && context?.isAdmitted && db) record(caller, db);
  });
}
