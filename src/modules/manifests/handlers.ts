import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type BodyOf, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { addPackages, removePackages } from './cargo/cargo.js';
import type { Change } from './shared/context.js';
import { readManifest } from './detail/detail.js';
import {
  createManifest,
  deleteManifest,
  updateManifest,
  type CreatedManifest,
} from './lifecycle/manifest.js';

export function manifestHandlers({ db }: Deps) {
  return {
    createManifest: async ({ body, caller, requestId }) => {
      // Only declared keys of the body are validated, so only they are passed on, here and below.
      const { awb_number, warehouse_id, remarks } = body;
      const wanted = { awb_number, warehouse_id, remarks };
      return answer('Manifest created.', toCreated(await createManifest({ db, caller, requestId }, wanted)));
    },
    manageManifest: ({ body, caller, requestId }) => manage({ db, caller, requestId }, body),
    getManifest: async ({ query, caller }) => {
      const detail = await readManifest(db, caller, query.id);
      return answer(`Manifest ${detail.info.manifest_number}.`, detail);
    },
  } satisfies Pick<Handlers, 'createManifest' | 'manageManifest' | 'getManifest'>;
}

function manage(change: Change, body: BodyOf<'manageManifest'>): Promise<ReplyOf<'manageManifest'>> {
  return byAction<typeof body, Promise<ReplyOf<'manageManifest'>>>(body, {
    create_manifest: async ({ awb_number, airline_prefix, flight_date, notes, warehouse_id }) => {
      const wanted = { awb_number, airline_prefix, flight_date, notes, warehouse_id };
      return answer('Manifest created.', toCreated(await createManifest(change, wanted)));
    },
    update_meta: async (wanted) => {
      const { status, awbCheck, isChanged } = await updateManifest(change, wanted);
      const message = isChanged
        ? 'Manifest updated.'
        : 'The manifest already has these values. Nothing was changed.';
      return answer(message, { manifest_id: wanted.manifest_id, status, awb_check: awbCheck });
    },
    add_packages: async ({ manifest_id, package_ids }) => {
      const added = await addPackages(change, manifest_id, package_ids);
      return answer(`${packagesOf(added)} added.`, { manifest_id, added });
    },
    remove_packages: async ({ manifest_id, package_ids }) => {
      const removed = await removePackages(change, manifest_id, package_ids);
      return answer(`${packagesOf(removed)} removed.`, { manifest_id, removed });
    },
    delete_manifest: async ({ manifest_id }) => {
      await deleteManifest(change, manifest_id);
      return answer('Manifest deleted.', { manifest_id });
    },
  });
}

const answer = <Data>(message: string, data: Data) => ({ statusCode: 200 as const, message, data });

function toCreated({ id, manifestNumber, awbCheck }: CreatedManifest) {
  return { manifest_id: id, manifest_number: manifestNumber, status: 'draft' as const, awb_check: awbCheck };
}

const packagesOf = (count: number) => (count === 1 ? '1 package' : `${count} packages`);
