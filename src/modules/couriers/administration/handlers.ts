import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { newId } from '../../../platform/values/ids.js';
import { createCourier } from './new-courier.js';
import { listCouriers, setActivity, updateCourier } from './administration.js';
import { viewCredentials, viewRecord } from './view.js';

type Managed = Promise<ReplyOf<'manageCouriers'>>;

export function courierAdministrationHandlers(deps: Deps) {
  const { db, secrets } = deps;

  return {
    async listCouriers({ query, caller }) {
      const { rows, total } = await listCouriers(db, caller, query);
      return {
        statusCode: 200,
        message: total === 1 ? '1 courier found.' : `${total} couriers found.`,
        data: rows.map(viewRecord),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: total,
          total_pages: Math.ceil(total / query.limit),
        },
      };
    },

    async manageCouriers({ body, caller, requestId }) {
      const changeOf = (courierId: string) => ({ db, secrets, caller, requestId, courierId });
      const setTo = async (courierId: string, isActive: boolean, messages: Messages): Managed => {
        const { row, isChanged } = await setActivity(changeOf(courierId), isActive);
        return { statusCode: 200, message: messages[isChanged ? 'done' : 'idle'], data: viewRecord(row) };
      };
      return byAction(body, {
        create: async (courier): Managed => {
          const { row, credentials } = await createCourier(deps, changeOf(newId()), courier);
          const message = 'Courier created. The API key and the password are not shown again.';
          return { statusCode: 200, message, data: { ...viewRecord(row), ...viewCredentials(credentials) } };
        },
        update: async (courier): Managed => {
          const { row, isChanged } = await updateCourier(deps, changeOf(courier.courier_id), courier);
          const message = isChanged
            ? 'Courier updated.'
            : 'The courier already has these values. Nothing was changed.';
          return { statusCode: 200, message, data: viewRecord(row) };
        },
        deactivate: ({ courier_id: id }) => setTo(id, false, DEACTIVATED),
        activate: ({ courier_id: id }) => setTo(id, true, ACTIVATED),
      });
    },
  } satisfies Pick<Handlers, 'listCouriers' | 'manageCouriers'>;
}

type Messages = { done: string; idle: string };

const DEACTIVATED = {
  done: 'Courier deactivated. Its API key and its users can no longer log in.',
  idle: 'The courier is already inactive. Nothing was changed.',
};

const ACTIVATED = {
  done: 'Courier activated.',
  idle: 'The courier is already active. Nothing was changed.',
};
