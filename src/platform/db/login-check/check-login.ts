import type pg from 'pg';
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
  const { rows } = await client.query<Row>(`${EXAMINE_LOGIN} order by kind, object`);
  const { rows: logins } = await client.query<{ login: string }>('select session_user as login');
  const login = logins[0]?.login ?? '';
  const faults = rows.map((row) => ({
    isDangerous: row.isDangerous,
    message: describe(row, login),
    remedy: `Run as a superuser: ${row.statement}`,
  }));
  return [...faults, ...(await checkLoginSettings(client))];
}

function describe({ kind, object }: Row, login: string): string {
  switch (kind) {
    case 'attribute':
      return `The role ${login} has the attribute ${object}.`;
    case 'membership':
      return `The role ${login} is a member of ${object}.`;
    case 'admin option':
      return `The role ${login} may grant ${object} to other roles.`;
    case 'owned':
      return `The role ${login} owns the ${object}.`;
    case 'grant':
    case 'database right':
      return `The role ${object}, which the service does not need.`;
    case 'everybody':
      return `Everybody has ${object}.`;
    case 'stranger':
      return `The role ${object} of another deployment may connect to this database.`;
    default:
      return `Every role of the server may connect to the database ${object}. Grant CONNECT to the roles that need it first.`;
  }
}
