import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { endAll, endOne, listSessions, logOut } from './manage.js';
import { countOf } from '../../platform/values/count-of.js';
import type { components } from '../../../generated/contract.js';
import type { SessionRow } from './queries.js';

type Ended = ReplyOf<'manageSessions'>;

export function sessionHandlers() {
  return {
    async listSessions({ ctx, query }) {
      const { rows, total } = await listSessions(ctx, query);
      const sessions = rows.map((row) => viewSession(row, ctx.caller.sessionId));
      return pageReply(query, total, 'session', sessions);
    },

    manageSessions({ ctx, body, isOfCookie }) {
      return byAction<typeof body, Promise<Ended>>(body, {
        logout: async () => ({
          ...reply('Logged out.', { ended: await logOut(ctx) }),
          ...forgotten(isOfCookie),
        }),
        end: async ({ session_id: sessionId, user_id: userId }) =>
          replyWithCount(await endOne(ctx, sessionId, userId)),
        end_all: async ({ keep_current: keepsCurrent = false, user_id: userId }) =>
          replyWithCount(await endAll(ctx, keepsCurrent, userId)),
      });
    },
  } satisfies Partial<Handlers>;
}

/** The browser of a session cookie that has ended deletes it. */
const forgotten = (isOfCookie: boolean) => (isOfCookie ? { sessionCookie: '' } : {});

const replyWithCount = (ended: number): Ended => reply(`${countOf(ended, 'session')} ended.`, { ended });

const viewSession = (
  { id, ...row }: SessionRow,
  currentId: string | undefined,
): components['schemas']['LoginSession'] => ({
  session_id: id,
  is_current: id === currentId,
  is_active: row.endReason === null,
  ...recordOf(row),
});
