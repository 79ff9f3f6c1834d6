import type { Handlers } from '../../../generated/handlers.js';
import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { byAction, type BodyOf, type DataOf, type ReplyOf } from '../../platform/contract/types.js';
import { makePdfWriter } from '../../platform/pdf/writer.js';
import type { Deps } from '../dependencies.js';
import { addPackages, removePackages } from './cargo/cargo.js';
import type { ChangeRow } from './detail/change-queries.js';
import { listManifests, readChanges, readManifest } from './detail/detail.js';
import { toInfo } from './detail/view.js';
import { writeDocument } from './document/document.js';
import type { ManifestDocument } from './document/pdf/manifest.js';
import {
  createManifest,
  deleteManifest,
  updateManifest,
  type CreatedManifest,
} from './lifecycle/manifest.js';
import { reopenManifest } from './lifecycle/reopen.js';
import type { SummaryRow } from './detail/list-queries.js';
import { hasText } from './detail/search-text.js';
import { countOf } from '../../platform/values/count-of.js';

export function manifestHandlers({ bulk, writeWorkbooks }: Deps) {
  const writers = {
    writeManifest: makePdfWriter<ManifestDocument>('modules/manifests/document/pdf/manifest-worker.js'),
    writeWorkbook: writeWorkbooks('Manifest'),
  };
  return {
    createManifest: async ({ ctx, body }) => {
      // Only declared keys of the body are validated, so only they are passed on, here and below.
      const { awb_number, warehouse_id, remarks } = body;
      const wanted = { awb_number, warehouse_id, remarks };
      return reply('Manifest created.', toCreated(await createManifest(ctx, wanted)));
    },
    manageManifest: ({ ctx, body }) => manage(ctx, body),

    listManifests: async ({ ctx, query }) =>
      pageBeforeReply(
        await bulk.limitSearch(ctx.caller, hasText(query.q), () => listManifests(ctx, query)),
        ['manifest'],
        toSummary,
      ),
    getManifest: async ({ ctx, query }) => {
      const detail = await readManifest(ctx, query);
      return reply(`Manifest ${detail.info.manifest_number}.`, detail);
    },
    listManifestChanges: async ({ ctx, query }) =>
      pageBeforeReply(await readChanges(ctx, query), ['change', 'changes'], toChange),
    getManifestDocument: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await bulk.limitReport(ctx.caller, () =>
        writeDocument(ctx, query, { now: new Date(), ...writers }),
      ),
    }),
  } satisfies Partial<Handlers>;
}

function manage(ctx: UserContext, body: BodyOf<'manageManifest'>): Promise<ReplyOf<'manageManifest'>> {
  return byAction<typeof body, Promise<ReplyOf<'manageManifest'>>>(body, {
    create_manifest: async ({ awb_number, airline_prefix, flight_date, notes, warehouse_id }) => {
      const wanted = { awb_number, airline_prefix, flight_date, notes, warehouse_id };
      return reply('Manifest created.', toCreated(await createManifest(ctx, wanted)));
    },
    update_meta: async (wanted) => {
      const { status, awbCheck, isChanged } = await updateManifest(ctx, wanted);
      const already = nothingToChange('manageManifest', body, {
        selectors: ['manifest_id'],
        already: 'The manifest already has these values.',
      });
      const message = outcomeOf(isChanged, 'Manifest updated.', already);
      return reply(message, { manifest_id: wanted.manifest_id, status, awb_check: awbCheck });
    },
    add_packages: async ({ manifest_id, package_ids }) => {
      const added = await addPackages(ctx, manifest_id, package_ids);
      return reply(`${countOf(added, 'package')} added.`, { manifest_id, added });
    },
    remove_packages: async ({ manifest_id, package_ids }) => {
      const removed = await removePackages(ctx, manifest_id, package_ids);
      return reply(`${countOf(removed, 'package')} removed.`, { manifest_id, removed });
    },
    reopen_manifest: async ({ manifest_id, remarks }) => {
      const isChanged = await reopenManifest(ctx, { action: 'reopen_manifest', manifest_id, remarks });
      const message = outcomeOf(
        isChanged,
        'The manifest is a draft again.',
        'The manifest is a draft already.',
      );
      return reply(message, { manifest_id, status: 'draft' as const });
    },
    delete_manifest: async ({ manifest_id }) => {
      await deleteManifest(ctx, manifest_id);
      return reply('Manifest deleted.', { manifest_id });
    },
  });
}

function toCreated({ id, manifestNumber, awbCheck }: CreatedManifest) {
  return { manifest_id: id, manifest_number: manifestNumber, status: 'draft' as const, awb_check: awbCheck };
}

const toSummary = ({ packages, weight_lb, ...info }: SummaryRow) => ({
  ...toInfo(info),
  packages,
  weight_lb: Number(weight_lb),
});

const toChange = ({ id, ...row }: ChangeRow): DataOf<'listManifestChanges'>[number] => ({
  change_id: id,
  ...recordOf(row),
});
