import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { uploadPrealerts } from './upload.js';

export function prealertUploadHandlers({ bulk }: Deps) {
  return {
    async uploadPrealerts({ ctx, body }) {
      const data = await uploadPrealerts(ctx, bulk, body);
      return reply(describe(data), data);
    },
  } satisfies Partial<Handlers>;
}

function describe({ processed, created, duplicate, repeated, dry_run }: DataOf<'uploadPrealerts'>): string {
  const counts = `Pre-alerts created: ${created}, duplicate: ${duplicate}, repeated: ${repeated}.`;
  return `${dry_run ? 'Nothing was stored. ' : ''}Rows processed: ${processed}. ${counts}`;
}
