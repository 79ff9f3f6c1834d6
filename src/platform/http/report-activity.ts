import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.js';
import type { PersonCaller, TokenCaller } from '../identity/callers.js';

/** Called after each response to a caller whom the database has accepted. */
type Recorders = {
  user: (caller: PersonCaller, db: Db) => void;
  token: (caller: TokenCaller, db: Db) => void;
};

export function reportActivity(app: FastifyInstance, record: Recorders): void {
  app.addHook('onResponse', async ({ caller, context, db }) => {
    if (!context?.isAdmitted || !db) return;
    if (caller?.kind === 'user') record.user(caller, db);
    if (caller?.kind === 'token') record.token(caller, db);
  });
}
