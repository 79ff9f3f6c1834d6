import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { targetCourierId } from '../shared/target-courier.js';
import { readSetUp } from './set-up.js';

export function courierSetUpHandlers() {
  return {
    async getCourierSetUp({ ctx, query }) {
      const courierId = targetCourierId(ctx.caller, query.id, 'id');
      const steps = await readSetUp(ctx, courierId);
      const done = steps.filter(({ missing }) => missing.length === 0);
      return reply(`${done.length} of ${steps.length} steps are done.`, { courier_id: courierId, steps });
    },
  } satisfies Pick<Handlers, 'getCourierSetUp'>;
}
