import type { Handlers } from '../../generated/handlers.js';
import type { Deps } from '../deps.js';
import { assertReady } from './readiness.js';

export function serviceHandlers({ db, contract }: Deps) {
  // as: parsed from the text that the same operation publishes
  const document = JSON.parse(contract.json) as Record<string, unknown>;
  return {
    getHealth: async () => ({ statusCode: 200, message: 'Alive.' }),
    getReadiness: async () => {
      await assertReady(db);
      return { statusCode: 200, message: 'Ready.' };
    },
    getContractJson: async () => ({ statusCode: 200, body: document }),
    getContractYaml: async () => ({ statusCode: 200, body: contract.yaml }),
  } satisfies Pick<Handlers, 'getHealth' | 'getReadiness' | 'getContractJson' | 'getContractYaml'>;
}
