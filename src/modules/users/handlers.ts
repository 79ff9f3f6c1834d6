import { pageReply } from '../../platform/contract/page-reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { changeRole, setUserActive, updateUser, type Changed } from './change.js';
import type { IssuedCredential } from './issued-credential.js';
import { resetPassword, resetTwoFactor } from './reset.js';
import { createUser, listUsers } from './user.js';
import { viewIssuedCredential, viewUser } from './view.js';

type Managed = ReplyOf<'manageUsers'>;

export function userHandlers(deps: Deps) {
  return {
    async listUsers({ ctx, query }) {
      const { rows, total } = await listUsers(ctx, query);
      return pageReply(query, total, 'user', rows.map(viewUser));
    },

    manageUsers({ ctx, body, address, userAgent }) {
      return byAction<typeof body, Promise<Managed>>(body, {
        create: async ({ username, full_name: fullName, email, role, courier_id: courierId }) => {
          const input = { username, fullName, email, role, courierId };
          const created = await createUser(ctx, deps, input);
          return replyWithCredential('User created. The password is shown only once.', created);
        },
        update: async ({ user_id: id, full_name: fullName, email, current_password: password }) => {
          const confirmation = { deps, client: { address, userAgent }, password };
          return replyWithUser('User changed.', await updateUser(ctx, id, { fullName, email }, confirmation));
        },
        change_role: async ({ user_id: id, role, courier_id: courierId }) =>
          replyWithUser('Role changed.', await changeRole(ctx, id, { role, courierId })),
        disable: async ({ user_id: id }) =>
          replyWithUser('User disabled.', await setUserActive(ctx, id, false)),
        enable: async ({ user_id: id }) => replyWithUser('User enabled.', await setUserActive(ctx, id, true)),
        reset_password: async ({ user_id: id }) =>
          replyWithCredential(
            'New one-time password created. It is shown only once.',
            await resetPassword(ctx, deps, id),
          ),
        reset_two_factor: async ({ user_id: id }) =>
          replyWithUser('Second factor turned off.', await resetTwoFactor(ctx, id)),
      });
    },
  } satisfies Partial<Handlers>;
}

function replyWithUser(message: string, { user, isChanged }: Changed): Managed {
  const unchanged = 'The user already has these values. Nothing was changed.';
  return { statusCode: 200, message: isChanged ? message : unchanged, data: viewUser(user) };
}

const replyWithCredential = (message: string, credential: IssuedCredential): Managed => ({
  statusCode: 200,
  message,
  data: viewIssuedCredential(credential),
});
