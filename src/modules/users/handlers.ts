import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { confirming } from '../auth/public.js';
import { changeRole, setUserActive, updateUser, type Changed } from './change.js';
import { resetPassword, resetTwoFactor } from './reset.js';
import { openTokensField, replyWithCredential } from './credential-reply.js';
import { createUser, listUsers } from './user.js';
import type { UserRow } from './queries.js';

type Managed = ReplyOf<'manageUsers'>;

export function userHandlers(deps: Deps) {
  return {
    async listUsers({ ctx, query }) {
      const { rows, total } = await listUsers(ctx, query);
      return pageReply(query, total, 'user', rows.map(viewUser));
    },

    manageUsers({ ctx, body, address, userAgent }) {
      const { confirmed, confirmationOf } = confirming({ ctx, deps, address, userAgent });
      return byAction<typeof body, Promise<Managed>>(body, {
        create: async ({ username, full_name: fullName, email, role, courier_id: courierId, ...sent }) => {
          const input = { username, fullName, email, role, courierId };
          const created = await confirmed(sent, (settle) => createUser(ctx, deps, input, settle));
          return replyWithCredential('User created. The password is shown only once.', created);
        },
        update: async ({ user_id: id, full_name: fullName, email, ...sent }) =>
          replyWithUser(
            'User changed.',
            await updateUser(ctx, id, { fullName, email }, confirmationOf(sent)),
          ),
        change_role: async ({ user_id: id, role, courier_id: courierId, ...sent }) =>
          replyWithUser(
            'Role changed.',
            await confirmed(sent, (settle) => changeRole(ctx, id, { role, courierId }, settle)),
          ),
        disable: async ({ user_id: id }) =>
          replyWithUser('User disabled.', await setUserActive(ctx, id, false)),
        enable: async ({ user_id: id, ...sent }) =>
          replyWithUser(
            'User enabled.',
            await confirmed(sent, (settle) => setUserActive(ctx, id, true, settle)),
          ),
        reset_password: async ({ user_id: id, ...sent }) =>
          replyWithCredential(
            'New one-time password created. It is shown only once.',
            await confirmed(sent, (settle) => resetPassword(ctx, deps, id, settle)),
          ),
        reset_two_factor: async ({ user_id: id, ...sent }) =>
          replyWithUser(
            'Second factor turned off.',
            await confirmed(sent, (settle) => resetTwoFactor(ctx, id, settle)),
          ),
      });
    },
  } satisfies Partial<Handlers>;
}

const replyWithUser = (done: string, { user, isChanged, openTokens }: Changed): Managed =>
  reply(outcomeOf(isChanged, done, 'The user already has these values.'), {
    ...viewUser(user),
    ...openTokensField(openTokens),
  });

const viewUser = ({ id, ...row }: UserRow): components['schemas']['ManagedUser'] => ({
  user_id: id,
  ...recordOf(row),
});
