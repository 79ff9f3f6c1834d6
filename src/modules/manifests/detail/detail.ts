import type { UserCaller } from '../../../platform/identity/callers.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import {
  selectFigures,
  selectInfo,
  selectPackages,
  type FiguresRow,
  type InfoRow,
  type PackageRow,
} from './queries.js';
import { toDetail } from './view.js';

/**
 * Returns the part of a manifest that the caller may see.
 * @throws ApiError manifest_not_found, also if the caller may see nothing of it
 */
export async function readManifest(db: Db, caller: UserCaller, id: string): Promise<DataOf<'getManifest'>> {
  const [info, packages, figures] = await snapshot(db, caller, [
    selectInfo(db, caller, id),
    selectPackages(db, caller, id),
    selectFigures(db, caller, id),
  ]);
  // The three statements select exactly these columns.
  const manifest = info?.[0] as InfoRow | undefined;
  if (!manifest) throw new ApiError('manifest_not_found');
  const cargo = { packages: packages as PackageRow[], figures: figures as FiguresRow[] };
  return toDetail(manifest, cargo, caller.role === 'courier');
}
