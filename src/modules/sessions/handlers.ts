import { pageReply } from '../../platform/contract/page-reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { endAll, endOne, listSessions, logOut } from './manage.js';
import { countOf } from '../../platform/values/count-of.js';
import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SessionRow } from './queries.js';

type Ended = ReplyOf<'manageSessions'>;

export function sessionHandlers() {
  return {
    async listSessions({ ctx, query }) {
      const { rows, total } = await listSessions(ctx, query);
      return pageReply(
        query,
        total,
        'session',
        rows.map((row) => viewSession(row, ctx.caller.sessionId)),
      );
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
  } satisfies Partial<Handlers>;
}

const replyWithCount = (ended: number): Ended => reply(`${countOf(ended, 'session')} ended.`, ended);

const reply = (message: string, ended: number): Ended => ({ statusCode: 200, message, data: { ended } });

function viewSession(row: SessionRow, currentId: string | undefined): components['schemas']['LoginSession'] {
  return {
    session_id: row.id,
    user_id: row.userId,
    is_current: row.id === currentId,
    is_active: row.endReason === null,
    started_by: row.startedBy,
    address: row.address,
    user_agent: row.userAgent,
    created_at: formatDateTime(row.createdAt),
    last_seen_at: formatDateTime(row.lastSeenAt),
    expires_at: formatDateTime(row.expiresAt),
    ended_at: row.endedAt && formatDateTime(row.endedAt),
    end_reason: row.endReason,
  };
}
