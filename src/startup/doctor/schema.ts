import { checkSchema } from '../../platform/db/schema-check/check-schema.js';
import { orOk, problem, warning, type Finding } from './checks/finding.js';
import type { Connected } from './checks/subject.js';

/** Compares row-level security, policies, triggers, functions, rights and constraints with what the migrations make. */
export async function checkProtections({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  const differences = await checkSchema(client);
  // The database has other migrations, which another check reports.
  if (!differences) return [];
  return orOk(
    differences.map(({ isDangerous, message, remedy }) => (isDangerous ? problem : warning)(message, remedy)),
    'The schema is what the migrations make.',
  );
}
