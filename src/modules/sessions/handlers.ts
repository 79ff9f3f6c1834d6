import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { endAll, endOne, listSessions, logOut } from './manage.js';
import { viewSession } from './view.js';
import { countOf } from '../../platform/values/count-of.js';

type Ended = ReplyOf<'manageSessions'>;

export function sessionHandlers() {
  return {
    async listSessions({ ctx, query }) {
      const { rows, total } = await listSessions(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(total, 'session')} found.`,
        data: rows.map((row) => viewSession(row, ctx.caller.sessionId)),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: total,
          total_pages: Math.ceil(total / query.limit),
        },
      };
    },

    manageSessions({ ctx, body }) {
      return byAction<typeof body, Promise<Ended>>(body, {
        logout: async () => reply('Logged out.', await logOut(ctx)),
        end: async ({ session_id: sessionId, user_id: userId }) =>
          replyWithCount(await endOne(ctx, sessionId, userId)),
        end_all: async ({ keep_current: keepsCurrent = false, user_id: userId }) =>
          replyWithCount(await endAll(ctx, keepsCurrent, userId)),
      });
    },
  } satisfies Pick<Handlers, 'listSessions' | 'manageSessions'>;
}

const replyWithCount = (ended: number): Ended => reply(`${countOf(ended, 'session')} ended.`, ended);

const reply = (message: string, ended: number): Ended => ({ statusCode: 200, message, data: { ended } });
