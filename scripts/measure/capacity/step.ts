import type { Config } from '../../../src/config/config.js';
import { loadStep, type Step } from './load.js';
import { lowestCost, openMeasuredDb, type Cost, type MeasuredDb } from './measure.js';
import { planOperations, type Operation } from './operations.js';

export type Amounts = {
  /** Requests per round. */
  times: number;
  rounds: number;
};

/** The cost of one request or row. */
export type Measured = Cost & { name: string };

/** Lets the tables grow, then measures every operation on them. `ownerUrl` must be a superuser's. */
export async function measureStep(
  ownerUrl: string,
  step: Step,
  config: Config,
  amounts: Amounts,
): Promise<Measured[]> {
  const measured = await openMeasuredDb(ownerUrl);
  try {
    await loadStep(measured.owner, step);
    const results: Measured[] = [];
    for (const operation of await planOperations(measured, config))
      results.push({ name: operation.name, ...(await costOf(measured, operation, amounts)) });
    return results;
  } finally {
    await measured.close();
  }
}

async function costOf(measured: MeasuredDb, operation: Operation, { times, rounds }: Amounts): Promise<Cost> {
  if (!operation.isRepeatable) return measured.costOf(() => operation.run(times));
  // The first requests of a connection read the catalogue.
  await operation.run(5);
  return lowestCost(rounds, () => measured.costOf(() => operation.run(times)));
}
