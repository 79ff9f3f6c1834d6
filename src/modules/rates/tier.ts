import type { BodyOf } from '../../platform/contract/types.js';
import { ApiError, fieldError, type FieldError } from '../../platform/errors/errors.js';

/** Weights in lb with 3 decimals and a fee in USD with 2, as text: exactly as the database writes them. */
export type Tier = { startLb: string; endLb: string; feeUsd: string };
export type StoredTier = Tier & { id: number };
/** A tier as a caller wants it: without an id it is a new one. */
export type WantedTier = Tier & { id: number | undefined };

type SentTier = Extract<BodyOf<'manageCourierRates'>, { action: 'save_rates' }>['rates'][number];

/**
 * A whole table as it was sent.
 *
 * @throws ApiError validation_failed naming every tier that is inverted, overlaps another or repeats an id
 */
export function readTable(sent: SentTier[]): WantedTier[] {
  const errors = [...invertedTiers(sent), ...repeatedIds(sent)];
  // bounds that are the wrong way round overlap everything: told alone
  if (errors.length === 0) errors.push(...overlappingTiers(sent));
  if (errors.length > 0) throw invalidTable(errors);
  // the contract has seen to it that nothing is rounded here
  return sent.map(({ id, startweight, endweight, fee }) => ({
    id,
    startLb: startweight.toFixed(3),
    endLb: endweight.toFixed(3),
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

/** Two tiers may share a bound; the constraint bands_do_not_overlap would refuse the rest as well, in no words. */
function overlappingTiers(sent: SentTier[]): FieldError[] {
  const ordered = sent
    .map((tier, index) => ({ ...tier, index }))
    .sort((a, b) => a.startweight - b.startweight || a.endweight - b.endweight);
  return ordered.flatMap((tier, place) => {
    const before = ordered[place - 1];
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
 * What turns the stored table into the wanted one. A wanted tier without an id stands for a stored one of the same
 * values, so that a table that is sent again writes nothing.
 *
 * @throws ApiError rate_not_found when an id is not of the stored table
 */
export function planChange(stored: StoredTier[], wanted: WantedTier[]): TableChange {
  const left = new Map(stored.map((tier) => [tier.id, tier]));
  const change: TableChange = { updated: [], inserted: [], deletedIds: [] };
  const missing: FieldError[] = [];
  for (const [index, { id, ...values }] of wanted.entries()) {
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
  for (const { id, ...values } of wanted) {
    if (id !== undefined) continue;
    const twin = [...left.values()].find((tier) => isSame(tier, values));
    if (twin) left.delete(twin.id);
    else change.inserted.push(values);
  }
  change.deletedIds = [...left.keys()];
  return change;
}

const notInTable = (index: number): FieldError => fieldError(`rates[${index}].id`, 'tier_missing');

const isSame = (a: Tier, b: Tier) => a.startLb === b.startLb && a.endLb === b.endLb && a.feeUsd === b.feeUsd;
