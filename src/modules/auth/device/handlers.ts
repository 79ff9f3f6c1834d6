import type { Handlers } from '../../../../generated/handlers.js';
import { TOKEN_LIFETIME_S } from '../../../platform/access/tokens.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { reply } from '../../../platform/contract/reply.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Deps } from '../../dependencies.js';
import { readOwnAccount } from '../credentials/own-password.js';
import { viewUser } from '../login/view.js';

/** Handlers of the console's session on a device (decision 0123). */
export function deviceSessionHandlers({ tokens }: Pick<Deps, 'tokens'>) {
  return {
    async getDeviceSession({ ctx }) {
      return reply('The session is open.', await viewSession(ctx));
    },

    async createDeviceSession({ ctx }) {
      const { caller } = ctx;
      const data = await viewSession(ctx);
      // The token of the request again, with the same session and the same end.
      const sessionCookie = tokens.issue(caller, caller.expiresAt - TOKEN_LIFETIME_S);
      return { ...reply('The browser has the session cookie.', data), sessionCookie };
    },
  } satisfies Partial<Handlers>;
}

const viewSession = async (ctx: PersonContext) => ({
  user: viewUser(await readOwnAccount(ctx)),
  expires_at: formatDateTime(new Date(ctx.caller.expiresAt * 1000)),
});
