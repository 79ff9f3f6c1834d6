import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { changeRole, setUserActive, updateUser, type Changed } from './change.js';
import type { IssuedCredential } from './issued-credential.js';
import { resetPassword, resetTwoFactor } from './reset.js';
import { createUser, listUsers } from './user.js';
import { viewIssuedCredential, viewUser } from './view.js';

type Managed = ReplyOf<'manageUsers'>;

export function userHandlers({ db, loginLimiter }: Deps) {
  return {
    async listUsers({ query, caller }) {
      const { rows, total } = await listUsers(db, caller, query);
      return {
        statusCode: 200,
        message: total === 1 ? '1 user found.' : `${total} users found.`,
        data: rows.map(viewUser),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: total,
          total_pages: Math.ceil(total / query.limit),
        },
      };
    },

    manageUsers({ body, caller, requestId }) {
      const change = { db, loginLimiter, caller, requestId };
      return byAction<typeof body, Promise<Managed>>(body, {
        create: async ({ username, full_name: fullName, email, role, courier_id: courierId }) => {
          const created = await createUser(change, { username, fullName, email, role, courierId });
          return replyWithCredential('User created. The password is shown only once.', created);
        },
        update: async (sent) => replyWithUser('User changed.', await updateUser(change, sent.user_id, sent)),
        change_role: async ({ user_id: id, role, courier_id: courierId }) =>
          replyWithUser('Role changed.', await changeRole(change, id, role, courierId)),
        disable: async ({ user_id: id }) =>
          replyWithUser('User disabled.', await setUserActive(change, id, false)),
        enable: async ({ user_id: id }) =>
          replyWithUser('User enabled.', await setUserActive(change, id, true)),
        reset_password: async ({ user_id: id }) =>
          replyWithCredential(
            'New one-time password created. It is shown only once.',
            await resetPassword(change, id),
          ),
        reset_two_factor: async ({ user_id: id }) =>
          replyWithUser('Second factor turned off.', await resetTwoFactor(change, id)),
      });
    },
  } satisfies Pick<Handlers, 'listUsers' | 'manageUsers'>;
}

function replyWithUser(message: string, { user, isChanged }: Changed): Managed {
  const unchanged = 'The user already has these values. Nothing was changed.';
  return { statusCode: 200, message: isChanged ? message : unchanged, data: viewUser(user) };
}

const replyWithCredential = (message: string, handover: IssuedCredential): Managed => ({
  statusCode: 200,
  message,
  data: viewIssuedCredential(handover),
});
