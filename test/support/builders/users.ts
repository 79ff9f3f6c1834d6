import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { newId } from '../../../src/platform/values/ids.js';

/** The hash of the demo users' password at bcrypt's lowest cost, because most tests do not measure the time of a hash. */
export const cheapHash: Promise<string> = bcrypt.hash(DEMO.password, 4);

export type MailedUser = { id: string; username: string; email: string };

/**
 * Plants a manager of tenant demo with an email address and the password of the demo users. Its name begins with the
 * stem.
 */
export async function insertMailedUser(
  owner: pg.Pool,
  stem: string,
  fields: Record<string, unknown> = {},
): Promise<MailedUser> {
  const username = `${stem}-${randomBytes(4).toString('hex')}`;
  const row: Record<string, unknown> = {
    id: newId(),
    tenant_id: DEMO.tenants.demo,
    username,
    email: `${username}@example.com`,
    role: 'manager',
    password_hash: await cheapHash,
    ...fields,
  };
  const columns = Object.keys(row);
  await owner.query(
    `insert into users (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
  return { id: String(row['id']), username, email: String(row['email']) };
}

/** Plants warehouse users `spare-1` and so on in tenant demo, with shared names and the password of the demo users. */
export async function insertUsers(owner: pg.Pool, count: number): Promise<void> {
  await owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     select tenant_id, new_id(), 'spare-' || n, 'Spare User ' || n % 5, 'warehouse', password_hash
     from users, generate_series(1, $2) n where id = $1`,
    [DEMO.users.admin, count],
  );
}
