import type { CustomerMatch, ParcelClaimant } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { useLoad, type Loaded } from '../../../ui/load.js';

/** A claimant, with what a person needs to compare with the label. */
export type Named = ParcelClaimant & { name: string; courier: string };

/** The largest page of the service. */
const MOST = 50;

/** Looks up the names of claimants, of which the list has the codes only. */
export const useNames = (claimants: ParcelClaimant[]): Loaded<Named[]> =>
  useLoad(
    async (signal) => {
      const codes = [...new Set(claimants.map(({ user_code }) => user_code))];
      const found = await Promise.all(
        codes.map(async (q) => (await api().customers.search({ q, limit: MOST }, { signal })).data),
      );
      return claimants.map((claimant) => named(claimant, found.flat()));
    },
    [JSON.stringify(claimants)],
  );

function named(claimant: ParcelClaimant, customers: CustomerMatch[]): Named {
  const found = customers.find(
    ({ courier_id, user_code }) => courier_id === claimant.courier_id && user_code === claimant.user_code,
  );
  const names = found ? [found.first_name, found.last_name].join(' ') : '';
  return { ...claimant, name: names, courier: found?.courier_name ?? '' };
}

/** Code, name and courier of a claimant. */
export const textOfClaimant = ({ user_code, name, courier }: Named): string =>
  [[user_code, name].filter(Boolean).join(' '), courier].filter(Boolean).join(', ');
