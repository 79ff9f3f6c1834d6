import type { Handlers } from '../../../generated/handlers.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { byAction, type BodyOf, type ReplyOf } from '../../platform/contract/types.js';
import { addPackages, removePackages } from './cargo/cargo.js';
import { readManifest } from './detail/detail.js';
import {
  createManifest,
  deleteManifest,
  updateManifest,
  type CreatedManifest,
} from './lifecycle/manifest.js';
import { countOf } from '../../platform/values/count-of.js';

export function manifestHandlers() {
  return {
    createManifest: async ({ ctx, body }) => {
      // Only declared keys of the body are validated, so only they are passed on, here and below.
      const { awb_number, warehouse_id, remarks } = body;
      const wanted = { awb_number, warehouse_id, remarks };
      return respond('Manifest created.', toCreated(await createManifest(ctx, wanted)));
    },
    manageManifest: ({ ctx, body }) => manage(ctx, body),
    getManifest: async ({ ctx, query }) => {
      const detail = await readManifest(ctx, query.id);
      return respond(`Manifest ${detail.info.manifest_number}.`, detail);
    },
  } satisfies Partial<Handlers>;
}

function manage(ctx: UserContext, body: BodyOf<'manageManifest'>): Promise<ReplyOf<'manageManifest'>> {
  return byAction<typeof body, Promise<ReplyOf<'manageManifest'>>>(body, {
    create_manifest: async ({ awb_number, airline_prefix, flight_date, notes, warehouse_id }) => {
      const wanted = { awb_number, airline_prefix, flight_date, notes, warehouse_id };
      return respond('Manifest created.', toCreated(await createManifest(ctx, wanted)));
    },
    update_meta: async (wanted) => {
      const { status, awbCheck, isChanged } = await updateManifest(ctx, wanted);
      const message = isChanged
        ? 'Manifest updated.'
        : 'The manifest already has these values. Nothing was changed.';
      return respond(message, { manifest_id: wanted.manifest_id, status, awb_check: awbCheck });
    },
    add_packages: async ({ manifest_id, package_ids }) => {
      const added = await addPackages(ctx, manifest_id, package_ids);
      return respond(`${countOf(added, 'package')} added.`, { manifest_id, added });
    },
    remove_packages: async ({ manifest_id, package_ids }) => {
      const removed = await removePackages(ctx, manifest_id, package_ids);
      return respond(`${countOf(removed, 'package')} removed.`, { manifest_id, removed });
    },
    delete_manifest: async ({ manifest_id }) => {
      await deleteManifest(ctx, manifest_id);
      return respond('Manifest deleted.', { manifest_id });
    },
  });
}

const respond = <Data>(message: string, data: Data) => ({ statusCode: 200 as const, message, data });

function toCreated({ id, manifestNumber, awbCheck }: CreatedManifest) {
  return { manifest_id: id, manifest_number: manifestNumber, status: 'draft' as const, awb_check: awbCheck };
}
