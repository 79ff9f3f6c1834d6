import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { makeReadiness } from './readiness.js';

export function serviceHandlers({ db, contract, migrations, log }: Deps) {
  const assertReady = makeReadiness(db, migrations, log);
  return {
    getHealth: async () => ({ statusCode: 200, message: 'Alive.' }),
    getReadiness: async () => {
      await assertReady();
      return { statusCode: 200, message: 'Ready.' };
    },
    getContractJson: async () => ({ statusCode: 200, document: contract.json }),
    getContractYaml: async () => ({ statusCode: 200, document: contract.yaml }),
    getSdkContract: async () => ({ statusCode: 200, document: contract.sdk }),
  } satisfies Partial<Handlers>;
}
