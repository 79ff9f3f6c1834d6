import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { formatLocalTime } from '../../../platform/values/time.js';
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
export async function readLabel(ctx: UserContext, packageId: string): Promise<Label> {
  const [[row]] = await ctx.read([findLabel(ctx, packageId)]);
  if (!row) throw new ApiError('package_not_found');
  return toLabel(row);
}

export function toLabel(row: LabelRow): Label {
  const { courierCode: code, courierName: name, userCode } = row;
  // Without seconds.
  const receivedAt = formatLocalTime(row.receivedAt, row.timeZone ?? 'UTC').replace(/:\d\d (?=\S+$)/, ' ');
  return {
    houseNumber: oneLine(row.houseNumber),
    receivedAt: row.receivedAt,
    courier: code === null ? null : { code: oneLine(code), name: oneLine(name ?? ''), color: row.houseColor },
    customer:
      userCode === null
        ? null
        : { code: oneLine(userCode), name: oneLine(`${row.firstName ?? ''} ${row.lastName ?? ''}`) },
    facts: [
      { name: 'Tracking', value: oneLine(row.trackingNumber) },
      { name: 'Weight', value: weightOf(row.weightLb) },
      { name: 'Received', value: receivedAt },
      { name: 'Warehouse', value: oneLine(row.warehouseName) },
      ...(row.manifestNumber === null ? [] : [{ name: 'Manifest', value: oneLine(row.manifestNumber) }]),
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
