import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { operations } from '../../../generated/operations.js';
import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { createFeed, deleteFeed, listFeeds, rotateFeed, updateFeed, type Managed } from './manage.js';
import type { FeedRow } from './queries.js';
import { openReceiver, type Outcome } from './receive.js';
import { listRefusals } from './list-refusals.js';
import type { RefusalRow } from './order-queries.js';
import { fieldsOf } from './senders/fields.js';

type Reply = ReplyOf<'manageFeeds'>;

const KEEP_IT = 'Store the secret now, it is not shown again.';

/** In which WooCommerce sends the id of a new webhook. */
const FORM = 'application/x-www-form-urlencoded';

const OUTCOMES: Record<Outcome, string> = {
  stored: 'Event stored.',
  late: 'What is known of the parcel stays.',
  announced: 'The parcels are announced.',
  refused: 'No parcel could be announced. FeedRefusals.php has the reasons.',
  repeated: 'The event has arrived before.',
  ignored: 'The event says nothing about a parcel.',
};

export function feedHandlers(deps: Pick<Deps, 'limits' | 'secrets'>) {
  const { secrets } = deps;
  const receiver = openReceiver(deps);
  return {
    async listFeeds({ ctx, query }) {
      const { rows, total } = await listFeeds(ctx, query);
      return pageReply(query, total, 'feed', rows.map(viewFeed));
    },

    manageFeeds: ({ ctx, body }) =>
      byAction<typeof body, Promise<Reply>>(body, {
        create: async (fields) => replyWith('Feed created.', await createFeed(ctx, secrets, fields)),
        update: async (fields) => {
          const managed = await updateFeed(ctx, fields);
          const already = nothingToChange('manageFeeds', body, {
            selectors: ['feed_id'],
            already: 'The feed already has these values.',
          });
          return replyWith(outcomeOf(managed.isChanged, 'Feed updated.', already), managed);
        },
        rotate: async (fields) => replyWith('Secret replaced.', await rotateFeed(ctx, secrets, fields)),
        delete: async (fields) => replyWith('Feed deleted.', await deleteFeed(ctx, fields)),
      }),

    async listFeedRefusals({ ctx, query }) {
      const { rows, total } = await listRefusals(ctx, query);
      return pageReply(query, total, 'refused parcel', rows.map(viewRefusal));
    },

    async receiveFeedEvent({ ctx, query, body, mediaType, signed, address }) {
      const { feed_id: feedId, token } = query;
      if (mediaType === FORM) {
        const outcome = await receiver.receivePing(ctx, { feedId, address });
        return reply(OUTCOMES[outcome], { outcome });
      }
      const outcome = await receiver.receive(ctx, {
        ...signed,
        feedId,
        token,
        address,
        body: fieldsOf(body),
      });
      return reply(OUTCOMES[outcome], { outcome });
    },
  } satisfies Partial<Handlers>;
}

const replyWith = (message: string, { row, secret }: Managed): Reply =>
  reply(secret === null ? message : `${message} ${KEEP_IT}`, { secret, feed: viewFeed(row) });

const viewFeed = ({ id, ...row }: FeedRow): components['schemas']['Feed'] => ({
  feed_id: id,
  ...recordOf(row),
  url: `${operations.receiveFeedEvent.path}?feed_id=${id}`,
});

const viewRefusal = ({ id, ...row }: RefusalRow): components['schemas']['FeedRefusal'] => ({
  refusal_id: id,
  ...recordOf(row),
});
