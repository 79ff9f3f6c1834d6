import type { Handlers } from '../../../../generated/handlers.js';
import { pageBeforeReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { readChanges } from './changes.js';
import type { ChangeRow } from './queries.js';

export function packageChangesHandlers() {
  return {
    async listPackageChanges({ ctx, query }) {
      return pageBeforeReply(await readChanges(ctx, query), ['change', 'changes'], viewChange);
    },
  } satisfies Pick<Handlers, 'listPackageChanges'>;
}

const viewChange = ({ id, ...row }: ChangeRow): DataOf<'listPackageChanges'>[number] => ({
  change_id: id,
  ...recordOf(row),
});
