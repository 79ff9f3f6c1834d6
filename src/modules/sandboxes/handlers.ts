import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { targetCourierId } from '../couriers/public.js';
import type { Deps } from '../dependencies.js';
import { readLivesFromOutside } from './lives/manage.js';
import { viewState } from './lives/view.js';
import type { SandboxRow } from './queries.js';
import { closeOpenSandbox, createSandbox, readSandbox } from './sandbox.js';

type Managed = ReplyOf<'manageSandbox'>;

export function sandboxHandlers(deps: Deps) {
  return {
    async getSandbox({ ctx, query }) {
      const row = await readSandbox(ctx, targetCourierId(ctx.caller, query.courier_id));
      const message = row ? 'The courier has a sandbox.' : 'The courier has no sandbox.';
      if (!row) return reply(message, { sandbox: null, state: null });
      const state = viewState(await readLivesFromOutside(ctx, deps.db, row));
      return reply(message, { sandbox: viewSandbox(row), state });
    },

    manageSandbox: ({ ctx, body }) =>
      byAction<typeof body, Promise<Managed>>(body, {
        async create({ courier_id }) {
          const { row, credentials } = await createSandbox(
            ctx,
            deps,
            targetCourierId(ctx.caller, courier_id),
          );
          const message = 'Sandbox made. Store its credentials now, they are not shown again.';
          return reply(message, { sandbox: viewSandbox(row), credentials });
        },
        async end({ courier_id }) {
          const row = await closeOpenSandbox(ctx, targetCourierId(ctx.caller, courier_id));
          return reply('Sandbox ended.', { sandbox: viewSandbox(row), credentials: null });
        },
      }),
  } satisfies Partial<Handlers>;
}

const viewSandbox = ({ id, pathKey, ...row }: SandboxRow): components['schemas']['Sandbox'] => ({
  sandbox_id: id,
  base_path: `/sandbox/${pathKey}`,
  ...recordOf(row),
});
