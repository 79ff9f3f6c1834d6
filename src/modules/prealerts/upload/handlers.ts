import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { sheetOf } from '../../../platform/files/upload-report.js';
import { uploadPrealerts } from './upload.js';

export function prealertUploadHandlers({ bulk, readWorkbook }: Deps) {
  return {
    async uploadPrealerts({ ctx, body }) {
      const data = await uploadPrealerts(ctx, { bulk, readWorkbook }, body);
      return reply(describe(data), data);
    },
  } satisfies Partial<Handlers>;
}

function describe({
  processed,
  created,
  duplicate,
  repeated,
  dry_run,
  file,
}: DataOf<'uploadPrealerts'>): string {
  const counts = `Pre-alerts created: ${created}, duplicate: ${duplicate}, repeated: ${repeated}.`;
  return `${dry_run ? 'Nothing was stored. ' : ''}${sheetOf(file)}Rows processed: ${processed}. ${counts}`;
}
