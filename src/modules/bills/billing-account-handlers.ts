import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { viewReconciliation } from './reconciliation/view.js';
import { reconcile } from './reconciliation/reconciliation.js';
import { viewStatement } from './statement/view.js';
import { readStatement } from './statement/statement.js';

export function billingAccountHandlers({ db }: Deps) {
  return {
    courierStatement: async ({ query, caller }) => viewStatement(await readStatement(db, caller, query)),
    billingReconciliation: async ({ query, caller }) =>
      viewReconciliation(await reconcile(db, caller, query)),
  } satisfies Pick<Handlers, 'courierStatement' | 'billingReconciliation'>;
}
