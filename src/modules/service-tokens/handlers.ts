import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { createToken, listTokens, revokeToken, rotateToken, updateToken, type Managed } from './manage.js';
import type { TokenRow } from './queries.js';

type Reply = ReplyOf<'manageServiceTokens'>;
type View = components['schemas']['ServiceToken'];

const KEEP_IT = 'Store it now, it is not shown again.';

export function serviceTokenHandlers(deps: Deps) {
  return {
    async listServiceTokens({ ctx, query }) {
      const { rows, total } = await listTokens(ctx, query);
      return pageReply(query, total, 'token', rows.map(viewToken));
    },

    manageServiceTokens({ ctx, body, address, userAgent }) {
      const confirmation = { deps, client: { address, userAgent } };
      const making = { secrets: deps.secrets, confirmation };
      return byAction<typeof body, Promise<Reply>>(body, {
        create: async (fields) =>
          replyWith(`Service token created. ${KEEP_IT}`, await createToken(ctx, making, fields)),
        update: async (fields) => {
          const managed = await updateToken(ctx, confirmation, fields);
          const already = nothingToChange('manageServiceTokens', body, {
            selectors: ['token_id'],
            already: 'The token already has these values.',
          });
          return replyWith(outcomeOf(managed.isChanged, 'Service token updated.', already), managed);
        },
        rotate: async (fields) =>
          replyWith(`New secret created. ${KEEP_IT}`, await rotateToken(ctx, making, fields)),
        revoke: async (fields) => {
          const managed = await revokeToken(ctx, fields);
          const message = outcomeOf(
            managed.isChanged,
            'Service token revoked.',
            'The token is already revoked.',
          );
          return replyWith(message, managed);
        },
      });
    },
  } satisfies Partial<Handlers>;
}

const replyWith = (message: string, { row, secret }: Managed): Reply =>
  reply(message, { token: secret, service_token: viewToken(row) });

const viewToken = ({ id, ...row }: TokenRow): View => ({ token_id: id, ...recordOf(row) });
