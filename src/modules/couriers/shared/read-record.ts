import { found, type Ctx } from './context.js';
import { oneCourier, type RecordRow } from './administration-queries.js';

/**
 * Returns the courier as courier administration shows it, inside the transaction that changes it.
 * @throws ApiError courier_not_found
 */
export async function readRecord({ db, tx, caller, courierId }: Ctx): Promise<RecordRow> {
  const [row] = await tx.query<RecordRow>(oneCourier(db, caller, courierId));
  return found(row);
}
