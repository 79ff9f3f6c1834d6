import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { operations } from '../../../generated/operations.js';
import { numberOrNull, recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { Deps } from '../dependencies.js';
import {
  createLink,
  endLink,
  readLink,
  replaceLink,
  setAmountDue,
  type Link,
  type Managed,
} from './links.js';
import { changeSettings, readSettings, type Settings } from './settings.js';

type Reply = ReplyOf<'manageTrackingLinks'>;

export function trackingHandlers({ secrets }: Pick<Deps, 'secrets'>) {
  return {
    async getTrackingLink({ ctx, query }) {
      const link = await readLink(ctx, secrets, query.package_id);
      const message = link ? 'The package has a tracking link.' : 'The package has no tracking link.';
      return replyWith(message, { link });
    },

    manageTrackingLinks: ({ ctx, body }) =>
      byAction<typeof body, Promise<Reply>>(body, {
        create: async (fields) => {
          const managed = await createLink(ctx, secrets, fields);
          const already = 'The package has a tracking link already.';
          return replyWith(outcomeOf(managed.isChanged, 'Tracking link created.', already), managed);
        },
        replace: async (fields) =>
          replyWith('Tracking link replaced.', await replaceLink(ctx, secrets, fields)),
        set_amount_due: async (fields) => {
          const managed = await setAmountDue(ctx, secrets, fields);
          const message = outcomeOf(managed.isChanged, 'Amount set.', 'The parcel has this amount already.');
          return replyWith(message, managed);
        },
        end: async (fields) => replyWith('Tracking link ended.', await endLink(ctx, fields)),
      }),

    async getTrackingSettings({ ctx, query }) {
      const settings = await readSettings(ctx, query.courier_id);
      const state = settings.isEnabled ? 'on' : 'off';
      return reply(`Tracking pages are switched ${state}.`, viewSettings(settings));
    },

    async updateTrackingSettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body);
      const already = nothingToChange('updateTrackingSettings', body, {
        selectors: ['courier_id'],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Settings changed.', already), viewSettings(settings));
    },
  } satisfies Partial<Handlers>;
}

const replyWith = (message: string, { link }: Pick<Managed, 'link'>): Reply =>
  reply(message, { link: link && viewLink(link) });

const viewLink = ({
  packageId,
  courierId,
  key,
  isPublic,
  amountDue,
  createdAt,
}: Link): components['schemas']['TrackingLink'] => ({
  package_id: packageId,
  courier_id: courierId,
  path: operations.getTrackingPage.path.replace('{key}', key),
  is_public: isPublic,
  amount_due: numberOrNull(amountDue),
  created_at: formatDateTime(createdAt),
});

const viewSettings = ({ code, ...settings }: Settings): components['schemas']['TrackingSettings'] => ({
  ...recordOf(settings),
  search_path:
    settings.isEnabled && settings.isSearchEnabled
      ? `${operations.getTrackingSearch.path}?courier=${encodeURIComponent(code)}`
      : null,
});
