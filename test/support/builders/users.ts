import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';

/** Plants warehouse users `spare-1` and so on in tenant demo, with shared names and the password of the demo users. */
export async function insertUsers(owner: pg.Pool, count: number): Promise<void> {
  await owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     select tenant_id, new_id(), 'spare-' || n, 'Spare User ' || n % 5, 'warehouse', password_hash
     from users, generate_series(1, $2) n where id = $1`,
    [DEMO.users.admin, count],
  );
}
