import type { Handlers } from '../../../../generated/handlers.js';
import { listBills } from './list-bills.js';
import { viewBills } from './view.js';

export function billHandlers() {
  return {
    listCourierBills: async ({ ctx, query }) => viewBills(await listBills(ctx, query)),
  } satisfies Partial<Handlers>;
}
