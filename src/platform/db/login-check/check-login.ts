import type pg from 'pg';
import { readRows, readValue } from '../connections/rows.js';
import { type LoginFault, checkLoginSettings } from './settings.js';
import { EXAMINE_LOGIN } from './statement.js';

type Row = { kind: string; object: string; statement: string; isDangerous: boolean };

/**
 * Compares the login of the connection with what the service needs: the role crossdock_app, and CONNECT and TEMPORARY on the
 * database (docs/decisions/0068).
 *
 * @param client in no transaction, with the settings that PostgreSQL gave to it
 */
export async function checkLogin(client: pg.ClientBase): Promise<LoginFault[]> {
  const rows = await readRows<Row>(client, `${EXAMINE_LOGIN} order by kind, object`);
  const login = await readValue<string>(client, 'select session_user');
  const faults = rows.map((row) => ({
    isDangerous: row.isDangerous,
    message: DESCRIPTIONS[row.kind]?.(row.object, login) ?? `${row.kind}: ${row.object}`,
    remedy: `Run as a superuser: ${row.statement}`,
  }));
  return [...faults, ...(await checkLoginSettings(client))];
}

const DESCRIPTIONS: Record<string, (object: string, login: string) => string> = {
  attribute: (object, login) => `The role ${login} has the attribute ${object}.`,
  membership: (object, login) => `The role ${login} is a member of ${object}.`,
  'admin option': (object, login) => `The role ${login} may grant ${object} to other roles.`,
  owned: (object, login) => `The role ${login} owns the ${object}.`,
  grant: (object) => `The role ${object}, which the service does not need.`,
  'database right': (object) => `The role ${object}, which the service does not need.`,
  everybody: (object) => `Everybody has ${object}.`,
  stranger: (object) => `The role ${object} of another deployment may connect to this database.`,
  'public connect': (object) =>
    `Every role of the server may connect to the database ${object}. Grant CONNECT to the roles that need it first.`,
};
