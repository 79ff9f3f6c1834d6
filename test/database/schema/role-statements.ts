import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

/** Returns what psql runs of deploy/postgres/roles.sql on a new server, for the default name. This machine may lack psql. */
export function roleStatements(): string[] {
  const script = readFileSync(join(projectRoot, 'deploy/postgres/roles.sql'), 'utf8');
  const [, statements = ''] = script.split(/^\\set login .*$/m);
  return statements
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/select [^;]*\\gset/g, '')
    .replaceAll(/^\\.*$/gm, '')
    .replaceAll(/:'(owner|login)_password'/g, "'$1'")
    .replaceAll(/:"(owner|login)"/g, 'crossdock_$1')
    .replaceAll(':"name"', 'crossdock')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
