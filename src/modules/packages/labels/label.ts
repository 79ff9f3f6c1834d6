import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { findLabel, type LabelRow } from './queries.js';

/** The content of a label. Each text is one line without control characters. */
export type Label = {
  houseNumber: string;
  /** Null if the owner is unknown. */
  courier: { code: string; name: string; color: string | null } | null;
  /** Null if the customer is unknown. */
  customer: { code: string; name: string } | null;
  facts: { name: string; value: string }[];
  receivedAt: Date;
};

/**
 * Returns the content of a package's label.
 * @throws ApiError package_not_found
 */
export async function readLabel(db: Db, caller: UserCaller, packageId: string): Promise<Label> {
  const [rows] = await snapshot(db, caller, [findLabel(db, caller, packageId)]);
  // The statement selects exactly these columns.
  const row = rows?.[0] as LabelRow | undefined;
  if (!row) throw new ApiError('package_not_found');
  return toLabel(row);
}

export function toLabel(row: LabelRow): Label {
  const { courier_code: code, courier_name: name, user_code: userCode } = row;
  return {
    houseNumber: oneLine(row.house_number),
    receivedAt: row.received_at,
    courier:
      code === null ? null : { code: oneLine(code), name: oneLine(name ?? ''), color: row.house_color },
    customer:
      userCode === null
        ? null
        : { code: oneLine(userCode), name: oneLine(`${row.first_name ?? ''} ${row.last_name ?? ''}`) },
    facts: [
      { name: 'Tracking', value: oneLine(row.tracking_number) },
      { name: 'Weight', value: weightOf(row.weight_lb) },
      { name: 'Received', value: `${formatDateTime(row.received_at).slice(0, 16)} UTC` },
      { name: 'Warehouse', value: oneLine(row.warehouse_name) },
      ...(row.manifest_number === null ? [] : [{ name: 'Manifest', value: oneLine(row.manifest_number) }]),
    ],
  };
}

/** Removes control and format characters, which printers do not print or which reverse the line. */
const oneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .normalize('NFC');

const KG_PER_LB = 0.45359237;

const weightOf = (pounds: string) => `${Number(pounds)} lb (${(Number(pounds) * KG_PER_LB).toFixed(2)} kg)`;
