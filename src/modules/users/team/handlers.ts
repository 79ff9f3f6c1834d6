import type { components } from '../../../../generated/contract.js';
import type { Handlers } from '../../../../generated/handlers.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import { outcomeOf, reply } from '../../../platform/contract/reply.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { confirming } from '../../auth/public.js';
import { openTokensField, replyWithCredential } from '../credential-reply.js';
import {
  changeTeamRole,
  createMember,
  resetMemberPassword,
  setMemberActive,
  updateMember,
} from './manage.js';
import type { MemberRow } from './queries.js';
import { listTeam, type ChangedMember } from './team.js';

type Managed = ReplyOf<'manageTeam'>;

export function teamHandlers(deps: Deps) {
  return {
    async listTeam({ ctx, query }) {
      const { rows, total, canManage } = await listTeam(ctx, query);
      const page = pageReply(query, total, 'user', rows.map(viewMember));
      return { ...page, meta: { ...page.meta, can_manage: canManage } };
    },

    manageTeam({ ctx, body, address, userAgent }) {
      const { confirmed, confirmationOf } = confirming({ ctx, deps, address, userAgent });
      const manage = () =>
        byAction<typeof body, Promise<Managed>>(body, {
          create: async ({ username, full_name: fullName, email, ...sent }) => {
            const input = { username, fullName, email, ...requestedRole(sent) };
            const created = await confirmed(sent, (settle) => createMember(ctx, deps, input, settle));
            return replyWithCredential('User created. The password is shown only once.', created);
          },
          update: async ({ user_id: id, full_name: fullName, email, ...sent }) =>
            replyWithMember(
              'User changed.',
              await updateMember(ctx, id, { fullName, email }, confirmationOf(sent)),
            ),
          change_role: async ({ user_id: id, ...sent }) =>
            replyWithMember(
              'Role changed.',
              await confirmed(sent, (settle) => changeTeamRole(ctx, id, requestedRole(sent), settle)),
            ),
          disable: async ({ user_id: id }) =>
            replyWithMember('User disabled.', await setMemberActive(ctx, id, false)),
          enable: async ({ user_id: id, ...sent }) =>
            replyWithMember(
              'User enabled.',
              await confirmed(sent, (settle) => setMemberActive(ctx, id, true, settle)),
            ),
          reset_password: async ({ user_id: id, ...sent }) =>
            replyWithCredential(
              'New one-time password created. It is shown only once.',
              await confirmed(sent, (settle) => resetMemberPassword(ctx, deps, id, settle)),
            ),
        });
      return deps.bulk.limitTeam(ctx.caller, manage);
    },
  } satisfies Partial<Handlers>;
}

type SentRole = Pick<components['schemas']['ChangeTeamRoleAction'], 'role' | 'courier_role' | 'courier_id'>;

const requestedRole = ({ role, courier_role: courierRole, courier_id: courierId }: SentRole) => ({
  role,
  courierRole,
  courierId,
});

const replyWithMember = (
  done: string,
  { user, isChanged, openTokens }: ChangedMember & { openTokens?: number },
): Managed =>
  reply(outcomeOf(isChanged, done, 'The user already has these values.'), {
    ...viewMember(user),
    ...openTokensField(openTokens),
  });

const viewMember = ({ id, isCourierOwner, ...row }: MemberRow): components['schemas']['TeamUser'] => ({
  user_id: id,
  ...recordOf(row),
  courier_role: row.courierId === null ? null : isCourierOwner ? 'owner' : 'member',
});
