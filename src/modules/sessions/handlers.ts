import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { endAll, endOne, listSessions, logOut } from './manage.js';
import { viewSession } from './view.js';

type Ended = ReplyOf<'manageSessions'>;

export function sessionHandlers({ db }: Deps) {
  return {
    async listSessions({ query, caller }) {
      const { rows, total } = await listSessions({ db, caller }, query);
      return {
        statusCode: 200,
        message: total === 1 ? '1 session found.' : `${total} sessions found.`,
        data: rows.map((row) => viewSession(row, caller.sessionId)),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: total,
          total_pages: Math.ceil(total / query.limit),
        },
      };
    },

    manageSessions({ body, caller, requestId }) {
      const access = { db, caller, requestId };
      return byAction<typeof body, Promise<Ended>>(body, {
        logout: async () => reply('Logged out.', await logOut(access)),
        end: async ({ session_id: sessionId, user_id: userId }) =>
          replyWithCount(await endOne(access, sessionId, userId)),
        end_all: async ({ keep_current: keepsCurrent = false, user_id: userId }) =>
          replyWithCount(await endAll(access, keepsCurrent, userId)),
      });
    },
  } satisfies Pick<Handlers, 'listSessions' | 'manageSessions'>;
}

const replyWithCount = (ended: number): Ended =>
  reply(ended === 1 ? '1 session ended.' : `${ended} sessions ended.`, ended);

const reply = (message: string, ended: number): Ended => ({ statusCode: 200, message, data: { ended } });
