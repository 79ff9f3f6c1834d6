import type { FastifyInstance } from 'fastify';
import type { UserCaller } from '../identity/callers.js';
import { isAdmitted } from '../db/transaction.js';

/** Reports each user whose request the database has admitted, after the reply was sent. */
export function reportActivity(app: FastifyInstance, note: (caller: UserCaller) => void): void {
  app.addHook('onResponse', async ({ caller }) => {
    if (caller?.kind === 'user' && isAdmitted(caller)) note(caller);
  });
}
