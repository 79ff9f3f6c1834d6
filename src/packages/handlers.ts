import type { Handlers } from '../../generated/handlers.js';
import type { Deps } from '../deps.js';
import { findPackages, receivePackage } from './packages.js';
import { viewMeta, viewPackage, viewReceipt } from './view.js';

export function packageHandlers({ db }: Deps) {
  return {
    async receivePackage({ body, caller, requestId }) {
      const receipt = await receivePackage(db, caller, requestId, body);
      const data = viewReceipt(receipt);
      if (receipt.isDuplicate)
        return { statusCode: 200, message: 'This package had been received already.', data };
      const owner = data.user_code
        ? ''
        : data.courier_id
          ? ' Its customer is unknown.'
          : ' Its owner is unknown.';
      return { statusCode: 201, message: `Package received.${owner}`, data };
    },

    async retrievePackages({ body, caller }) {
      const found = await findPackages(db, caller, body);
      const total = found.totals.total_count;
      return {
        statusCode: 200,
        message: total === 1 ? '1 package found.' : `${total} packages found.`,
        data: found.rows.map((row) => viewPackage(caller, row)),
        meta: viewMeta(found),
      };
    },
  } satisfies Pick<Handlers, 'receivePackage' | 'retrievePackages'>;
}
