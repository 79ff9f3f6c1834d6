import { ApiError } from '../../../../platform/errors/errors.js';
import { readReferences, type Intake, type ReferencedRecords } from '../../../packages/public.js';
import { toIntake, type SentItem } from '../messages/read-scans.js';

type FoundRecords = Parameters<typeof readReferences>[1];

/** What receive scans refer to, or why they must be refused, by `referencesOf`. */
export type CheckedReferences = Map<string, ReferencedRecords | ApiError>;

/** Tells scans apart that name different couriers, customers, carriers or warehouses. */
export const referencesOf = ({ details }: Pick<SentItem, 'details'>): string =>
  JSON.stringify([details.courier_id, details.user_code, details.carrier_id, details.warehouse_id]);

/** Returns an intake for each combination of records that the receive scans of a batch name. */
export const intakesOf = (scans: SentItem[]): Map<string, Intake> =>
  new Map(scans.filter(({ kind }) => kind === 'receive').map((scan) => [referencesOf(scan), toIntake(scan)]));

/**
 * Checks the courier, customer, carrier and warehouse that receive scans name, as intake does. Intake uses the result: if it looked
 * again, a record that has changed meanwhile would refuse the whole batch.
 *
 * @param found a row for each of the intakes
 */
export const checkReferences = (intakes: Map<string, Intake>, found: FoundRecords[]): CheckedReferences =>
  new Map([...intakes].map(([key, intake], index) => [key, checkReference(intake, found[index])]));

function checkReference(intake: Intake, found: FoundRecords): ReferencedRecords | ApiError {
  try {
    return readReferences(intake, found);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
