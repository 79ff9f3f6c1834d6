import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type BodyOf, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { listDeliveries } from './deliveries.js';
import { readFeed } from '../events/feed.js';
import { recoverSince, redeliver, sendTest, type Change } from './resend.js';
import { viewDeliveries, viewFeed, viewRecovery, viewResent } from './view.js';

export function webhookHandlers({ db }: Deps) {
  return {
    listWebhookDeliveries: async ({ query, caller }) =>
      viewDeliveries(await listDeliveries(db, caller, query)),
    readEvents: async ({ query, caller }) => viewFeed(await readFeed(db, caller, query)),
    manageWebhookDeliveries: ({ body, caller, requestId }) => manage({ db, caller, requestId }, body),
  } satisfies Pick<Handlers, 'listWebhookDeliveries' | 'readEvents' | 'manageWebhookDeliveries'>;
}

type Managed = ReplyOf<'manageWebhookDeliveries'>;

function manage(change: Change, body: BodyOf<'manageWebhookDeliveries'>): Promise<Managed> {
  return byAction<typeof body, Promise<Managed>>(body, {
    redeliver: async (wanted) => {
      const resent = await redeliver(change, wanted);
      const message = resent.isNew
        ? 'The event was queued again.'
        : 'The event was already queued. It is sent now.';
      return viewResent(message, resent);
    },
    send_test: async (wanted) => {
      const test = await sendTest(change, wanted);
      return viewResent(`A test was queued for ${test.endpoint}.`, test);
    },
    recover_since: async (wanted) => viewRecovery(await recoverSince(change, wanted)),
  });
}
