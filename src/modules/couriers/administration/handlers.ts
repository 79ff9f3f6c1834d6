import { pageReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import { outcomeOf, reply } from '../../../platform/contract/reply.js';
import { nothingToChange } from '../../../platform/contract/sent-names.js';
import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { confirming } from '../../auth/public.js';
import type { Deps } from '../../dependencies.js';
import { setActivity, updateCourier, listCouriers } from './change-courier.js';
import { createCourier, type Credentials } from './new-courier.js';

type Managed = Promise<ReplyOf<'manageCouriers'>>;

export function courierAdministrationHandlers(deps: Deps) {
  return {
    async listCouriers({ ctx, query }) {
      const { rows, total } = await listCouriers(ctx, query);
      const records = rows.map((row) => recordOf(row));
      return pageReply(query, total, 'courier', records);
    },

    async manageCouriers({ ctx, body, address, userAgent }) {
      const { confirmed, confirmedIfSent } = confirming({ ctx, deps, address, userAgent });
      return byAction(body, {
        create: async (fields): Managed => {
          const { row, credentials } = await createCourier(ctx, deps, fields);
          const message = 'Courier created. The API key and the password are not shown again.';
          return reply(message, { ...recordOf(row), ...viewCredentials(credentials) });
        },
        update: async ({ current_password, ...fields }): Managed => {
          const { row, isChanged } = await confirmedIfSent({ current_password }, (settle) =>
            updateCourier(ctx, deps, fields, settle),
          );
          const already = nothingToChange('manageCouriers', body, {
            selectors: ['courier_id'],
            already: 'The courier already has these values.',
          });
          return reply(outcomeOf(isChanged, 'Courier updated.', already), recordOf(row));
        },
        deactivate: async ({ courier_id: id }): Managed => {
          const { row, isChanged } = await setActivity(ctx, id, false);
          const done = 'Courier deactivated. Its API key and its users can no longer log in.';
          return reply(outcomeOf(isChanged, done, 'The courier is already inactive.'), recordOf(row));
        },
        activate: async ({ courier_id: id, ...sent }): Managed => {
          const { row, isChanged } = await confirmed(sent, (settle) => setActivity(ctx, id, true, settle));
          const message = outcomeOf(isChanged, 'Courier activated.', 'The courier is already active.');
          return reply(message, recordOf(row));
        },
      });
    },
  } satisfies Partial<Handlers>;
}

const viewCredentials = ({ apiKey, user, oneTimePassword, passwordExpiresAt }: Credentials) => ({
  api_key: apiKey,
  login: {
    user_id: user.id,
    username: user.username,
    full_name: user.full_name,
    one_time_password: oneTimePassword,
    password_expires_at: formatDateTime(passwordExpiresAt),
  },
});
