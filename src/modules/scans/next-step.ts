import type { DataOf } from '../../platform/contract/types.js';
import { isUnderReview } from '../packages/public.js';
import type { Candidate } from '../tracking-numbers/public.js';
import { isHeld } from './fold/extra-reason.js';
import type { CustomerRow, ManifestRow, PackageRow, ClaimRow } from './queries.js';

export type NextStep = DataOf<'resolveScan'>['next'];

type Matches = {
  packages: Pick<PackageRow, 'status' | 'manifestStatus'>[];
  claims: Pick<ClaimRow, 'status' | 'courierId' | 'userCode'>[];
  manifests: Pick<ManifestRow, 'status'>[];
  customers: Pick<CustomerRow, 'userCode'>[];
};

/**
 * Returns the next step, by the table in the contract's description of resolveScan.
 * @param isOpen the scan has several numbers, and no record decides between them
 */
export function decideNextStep(
  candidates: Pick<Candidate, 'check'>[],
  matches: Matches,
  isOpen = false,
): NextStep {
  if (isOpen) return 'review';
  const { packages, claims, manifests, customers } = matches;
  const [found, another] = packages;
  if (another) return 'review';
  if (found) return stepOfPackage(found, claims);
  const [manifest] = manifests;
  if (manifest) return manifest.status === 'ready' ? 'load' : 'review';
  if (claims.length > 0) return areAgreed(claims) ? 'receive' : 'review';
  if (candidates.some(({ check }) => check === 'valid')) return 'receive';
  if (customers.length > 0) return 'review';
  return candidates.length > 0 ? 'receive' : 'unknown';
}

function stepOfPackage(
  { status, manifestStatus }: Matches['packages'][number],
  claims: Matches['claims'],
): NextStep {
  if (isHeld(status) || isUnderReview(claims)) return 'review';
  return status === 'received' && manifestStatus === 'ready' ? 'load' : 'already_received';
}

/** Whether intake would find one owner. */
export function areAgreed(claims: Matches['claims']): boolean {
  const owners = new Set(claims.map(({ courierId, userCode }) => `${courierId} ${userCode}`));
  return owners.size === 1 && claims.every(({ status }) => status === 'pending');
}
