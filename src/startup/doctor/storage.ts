import { writeAndRollBack } from '../../platform/db/health.js';
import { meaningOfError, sqlStateOf } from '../../platform/db/violations.js';
import { messageOf, ok, problem, warning, type Finding } from './checks/finding.js';
import type { Connected } from './checks/subject.js';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';

/** Writes 4 MB and rolls back. SQL cannot show how much space is left on the disk. */
export async function checkStorage({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  try {
    await writeAndRollBack(client);
    return [ok('The database stores data.')];
  } catch (error) {
    const code = sqlStateOf(error);
    // The check of the server names the reason.
    if (code === READ_ONLY) return [];
    if (code === NO_RIGHT && meaningOfError(error) === 'defect')
      return [
        warning(
          'The login may create no temporary table, so /ready and this check cannot try to write.',
          `Run as a superuser: ${await statementFor(client)}`,
        ),
      ];
    if (meaningOfError(error) !== 'unwritable')
      return [
        problem(
          `Whether the database stores data could not be examined: ${messageOf(error)}.`,
          'Correct the other problems first, and repeat.',
        ),
      ];
    return [
      problem(
        `The database stores nothing: ${messageOf(error)}.`,
        'Free space on the disk of the database server, or enlarge it. See DatabaseNotWritable in docs/operations.md.',
      ),
    ];
  }
}

async function statementFor(client: Connected['client']): Promise<string> {
  const { rows } = await client.query<{ statement: string }>(
    "select format('grant temporary on database %I to %I;', current_database(), session_user) as statement",
  );
  return rows[0]?.statement ?? '';
}
