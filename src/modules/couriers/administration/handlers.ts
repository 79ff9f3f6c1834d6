import { pageReply } from '../../../platform/contract/page-reply.js';
import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { setActivity, updateCourier } from './change-courier.js';
import { createCourier } from './new-courier.js';
import { listCouriers } from './records.js';
import { viewCredentials, viewRecord } from './view.js';

type Managed = Promise<ReplyOf<'manageCouriers'>>;

export function courierAdministrationHandlers(deps: Deps) {
  return {
    async listCouriers({ ctx, query }) {
      const { rows, total } = await listCouriers(ctx, query);
      return pageReply(query, total, 'courier', rows.map(viewRecord));
    },

    async manageCouriers({ ctx, body }) {
      const setTo = async (courierId: string, isActive: boolean, messages: Messages): Managed => {
        const { row, isChanged } = await setActivity(ctx, courierId, isActive);
        return {
          statusCode: 200,
          message: isChanged ? messages.changed : messages.unchanged,
          data: viewRecord(row),
        };
      };
      return byAction(body, {
        create: async (fields): Managed => {
          const { row, credentials } = await createCourier(ctx, deps, fields);
          const message = 'Courier created. The API key and the password are not shown again.';
          return { statusCode: 200, message, data: { ...viewRecord(row), ...viewCredentials(credentials) } };
        },
        update: async (fields): Managed => {
          const { row, isChanged } = await updateCourier(ctx, deps, fields);
          const message = isChanged
            ? 'Courier updated.'
            : 'The courier already has these values. Nothing was changed.';
          return { statusCode: 200, message, data: viewRecord(row) };
        },
        deactivate: ({ courier_id: id }) => setTo(id, false, DEACTIVATED),
        activate: ({ courier_id: id }) => setTo(id, true, ACTIVATED),
      });
    },
  } satisfies Partial<Handlers>;
}

type Messages = { changed: string; unchanged: string };

const DEACTIVATED = {
  changed: 'Courier deactivated. Its API key and its users can no longer log in.',
  unchanged: 'The courier is already inactive. Nothing was changed.',
};

const ACTIVATED = {
  changed: 'Courier activated.',
  unchanged: 'The courier is already active. Nothing was changed.',
};
