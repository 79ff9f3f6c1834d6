import type pg from 'pg';

/** Runs `work` while the courier is deactivated. It is active again afterwards, also after a failure. */
export async function whileInactive<Result>(
  owner: pg.Pool,
  courierId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const setActive = (isActive: boolean) =>
    owner.query('update couriers set is_active = $2 where id = $1', [courierId, isActive]);
  await setActive(false);
  try {
    return await work();
  } finally {
    await setActive(true);
  }
}
