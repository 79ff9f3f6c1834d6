import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { reconcile } from './reconciliation/reconciliation.js';
import { viewReconciliation } from './reconciliation/view.js';
import { readStatement } from './statement/statement.js';
import { viewStatement } from './statement/view.js';

export function billingAccountHandlers({ bulk }: Deps) {
  return {
    getCourierStatement: async ({ ctx, query }) => viewStatement(await readStatement(ctx, query)),
    getBillingReconciliation: async ({ ctx, query }) =>
      viewReconciliation(await bulk.limitReport(ctx.caller, () => reconcile(ctx, query))),
  } satisfies Partial<Handlers>;
}
