import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

/**
 * Returns what psql runs of deploy/postgres/roles.sql for a name, on a server without other deployments. The passwords are
 * `owner-password` and `login-password`. This machine may lack psql.
 */
export function roleStatements(name = 'crossdock'): string[] {
  const script = readFileSync(join(projectRoot, 'deploy/postgres/roles.sql'), 'utf8');
  const [, statements = ''] = script.split(/^\\set login .*$/m);
  return statements
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/select [^;]*\\gset/g, '')
    .replaceAll(/^ *\\.*$/gm, '')
    .replaceAll(/:'(owner|login)_password'/g, "'$1-password'")
    .replaceAll(/:"(owner|login)"/g, `${name}_$1`)
    .replaceAll(':"name"', name)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Those for a server on which the roles that all deployments share exist. */
export const roleStatementsOfAnother = (name: string): string[] =>
  roleStatements(name).filter((statement) => !/^create role crossdock_(app|lookup) nologin$/.test(statement));
