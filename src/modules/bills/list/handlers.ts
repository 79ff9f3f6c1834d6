import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { loadBills } from './list-bills.js';
import { viewBills } from './view.js';

export function billHandlers({ db }: Deps) {
  return {
    loadCourierBills: async ({ query, caller }) => viewBills(await loadBills(db, caller, query)),
  } satisfies Pick<Handlers, 'loadCourierBills'>;
}
