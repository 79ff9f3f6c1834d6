import type { BodyOf } from '../../platform/contract/types.js';
import type { DecimalText, RateTier } from '../../platform/db/models/types.js';
import { ApiError, fieldError, type FieldError } from '../../platform/errors/errors.js';

/** Weights with 3 decimals and a fee with 2, as text, exactly as the database writes them. */
export type Tier = DecimalText<Pick<RateTier, 'startWeightLb' | 'endWeightLb' | 'feeUsd'>>;
export type StoredTier = Tier & Pick<RateTier, 'id'>;
/** A requested tier. Without an id it is new. */
export type RequestedTier = Tier & { id: number | undefined };

export const toStoredTier = ({ id, startWeightLb, endWeightLb, feeUsd }: RateTier): StoredTier => ({
  id,
  startWeightLb: startWeightLb.toFixed(3),
  endWeightLb: endWeightLb.toFixed(3),
  feeUsd: feeUsd.toFixed(2),
});

/** The order of a table. Floats are only compared: weights of 8 digits have one float each. */
export const orderByWeight = <Of extends Tier>(tiers: Of[]): Of[] =>
  tiers.toSorted(
    (a, b) =>
      Number(a.startWeightLb) - Number(b.startWeightLb) || Number(a.endWeightLb) - Number(b.endWeightLb),
  );

type SentTier = Extract<BodyOf<'manageCourierRates'>, { action: 'save_rates' }>['rates'][number];

/**
 * Returns the requested table.
 * @throws ApiError validation_failed with every tier that is inverted, overlaps another or repeats an id
 */
export function readTable(sent: SentTier[]): RequestedTier[] {
  const errors = [...invertedTiers(sent), ...repeatedIds(sent)];
  // Inverted bounds overlap everything, so they are reported alone.
  if (errors.length === 0) errors.push(...overlappingTiers(sent));
  if (errors.length > 0) throw invalidTable(errors);
  // The contract has limited the decimals, so nothing is rounded here.
  return sent.map(({ id, startweight, endweight, fee }) => ({
    id,
    startWeightLb: startweight.toFixed(3),
    endWeightLb: endweight.toFixed(3),
    feeUsd: fee.toFixed(2),
  }));
}

const MAX_ERRORS = 100;

function invalidTable(errors: FieldError[]): ApiError {
  return new ApiError('validation_failed', { errors: errors.slice(0, MAX_ERRORS) });
}

function invertedTiers(sent: SentTier[]): FieldError[] {
  return sent.flatMap(({ startweight, endweight }, index) =>
    endweight < startweight ? [fieldError(`rates[${index}].endweight`, 'tier_bounds')] : [],
  );
}

function repeatedIds(sent: SentTier[]): FieldError[] {
  const seen = new Set<number>();
  return sent.flatMap(({ id }, index) => {
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id);
      return [];
    }
    return [fieldError(`rates[${index}].id`, 'tier_repeated')];
  });
}

/**
 * Two tiers may share a bound. The constraint bands_do_not_overlap would reject other overlaps too, but
 * without a useful message.
 */
function overlappingTiers(sent: SentTier[]): FieldError[] {
  const ordered = sent
    .map((tier, index) => ({ ...tier, index }))
    .sort((a, b) => a.startweight - b.startweight || a.endweight - b.endweight);
  return ordered.flatMap((tier, position) => {
    const before = ordered[position - 1];
    if (!before) return [];
    const isTwin = tier.startweight === before.startweight && tier.endweight === before.endweight;
    if (tier.startweight >= before.endweight && !isTwin) return [];
    const field = `rates[${tier.index}].startweight`;
    const other = `rates[${before.index}]`;
    return [
      isTwin
        ? fieldError(field, 'tier_twin', { other })
        : fieldError(field, 'tier_overlap', { limit: before.endweight, other }),
    ];
  });
}

export type TableChange = { updated: StoredTier[]; inserted: Tier[]; deletedIds: number[] };

/**
 * Returns the changes from the stored to the requested table. A requested tier without an id matches a stored
 * one with the same values, so that sending a table again writes nothing.
 * @throws ApiError rate_not_found if an id is not in the stored table
 */
export function planChange(stored: StoredTier[], requested: RequestedTier[]): TableChange {
  const left = new Map(stored.map((tier) => [tier.id, tier]));
  const change: TableChange = { updated: [], inserted: [], deletedIds: [] };
  const missing: FieldError[] = [];
  for (const [index, { id, ...values }] of requested.entries()) {
    if (id === undefined) continue;
    const tier = left.get(id);
    left.delete(id);
    if (!tier) missing.push(notInTable(index));
    else if (!isSame(tier, values)) change.updated.push({ id, ...values });
  }
  if (missing.length > 0) {
    const errors = missing.slice(0, MAX_ERRORS);
    throw new ApiError('rate_not_found', { variant: 'several', errors });
  }
  for (const { id, ...values } of requested) {
    if (id !== undefined) continue;
    const twin = [...left.values()].find((tier) => isSame(tier, values));
    if (twin) left.delete(twin.id);
    else change.inserted.push(values);
  }
  change.deletedIds = [...left.keys()];
  return change;
}

const notInTable = (index: number): FieldError => fieldError(`rates[${index}].id`, 'tier_missing');

const isSame = (a: Tier, b: Tier) =>
  a.startWeightLb === b.startWeightLb && a.endWeightLb === b.endWeightLb && a.feeUsd === b.feeUsd;
