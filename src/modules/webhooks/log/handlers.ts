import type { Handlers } from '../../../../generated/handlers.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { pageBeforeReply } from '../../../platform/contract/page-reply.js';
import { reply } from '../../../platform/contract/reply.js';
import { byAction, type BodyOf, type ReplyOf } from '../../../platform/contract/types.js';
import type { BulkLimits } from '../../../platform/limits/bulk-limits.js';
import type { Deps } from '../../dependencies.js';
import { readFeed } from '../events/feed.js';
import { countMatchingDeliveries, recoverSince, redeliverMatchingDeliveries } from './recovery.js';
import { redeliver, sendTest, listDeliveries, readDelivery } from './resend.js';
import { viewDelivery, viewFeed, viewRecovery, viewResent } from './view.js';

export function webhookHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    listWebhookDeliveries: async ({ ctx, query }) =>
      pageBeforeReply(await listDeliveries(ctx, query), ['delivery', 'deliveries'], viewDelivery),
    async getWebhookDelivery({ ctx, query }) {
      const { delivery, exchanges } = await readDelivery(ctx, query.delivery_id);
      return reply('Delivery found.', { ...viewDelivery(delivery), exchanges });
    },
    listEvents: async ({ ctx, query }) => viewFeed(await readFeed(ctx, query)),
    manageWebhookDeliveries: ({ ctx, body }) => manage(ctx, body, bulk),
  } satisfies Partial<Handlers>;
}

type Managed = ReplyOf<'manageWebhookDeliveries'>;

function manage(
  ctx: UserContext,
  body: BodyOf<'manageWebhookDeliveries'>,
  bulk: BulkLimits,
): Promise<Managed> {
  return byAction<typeof body, Promise<Managed>>(body, {
    redeliver: async (input) => {
      const resent = await redeliver(ctx, input);
      const message = resent.isNew
        ? 'The event was queued again.'
        : 'The event was already queued. It is sent now.';
      return viewResent(message, resent);
    },
    send_test: async (input) => {
      const test = await sendTest(ctx, input);
      return viewResent(`A test was queued for ${test.endpoint}.`, test);
    },
    recover_since: async (input) => viewRecovery(await recoverSince(ctx, input)),
    redeliver_matching: async (input) =>
      input.dry_run
        ? viewRecovery(await bulk.limitReport(ctx.caller, () => countMatchingDeliveries(ctx, input)), true)
        : viewRecovery(await redeliverMatchingDeliveries(ctx, input)),
  });
}
